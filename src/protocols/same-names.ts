/**
 * Offers only one tool of each name: clients that join several MCP servers send two, which OpenAI's models take, but Claude, Gemini and
 * Bedrock refuse. The last one stays, as it does in clients that find their tools by name.
 */
import { isDeepStrictEqual } from "node:util";
import type { Tool } from "./canonical/request.ts";
import type { Fitting } from "./fit-fields.ts";

/** Removes all but the last of tools with the same name; a difference between them is noted. */
export function removeSameNames(fitting: Fitting): void {
  const { tools = [] } = fitting.request;
  const last = new Map(tools.map((tool) => [keyOf(tool), tool]));
  if (last.size === tools.length) return;
  const differs = (tool: Tool): boolean => !isDeepStrictEqual(tool, last.get(keyOf(tool)));
  if (tools.some(differs))
    fitting.note("tools", "dropped", "of tools with the same name, all but the last were dropped");
  fitting.request = { ...fitting.request, tools: [...last.values()] };
}

/** A custom tool with the name of a function is sent under another name. */
const keyOf = ({ name, custom }: Tool): string => `${custom ? "custom" : "function"} ${name}`;

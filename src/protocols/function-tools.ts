/** Function tools as the OpenAI-style protocols have them. Requirements: CONV, RESP-16. */
import { exactly } from "../base/exact-numbers.ts";
import { isObject, type WireObject } from "../base/json.ts";
import { nonEmpty } from "./read.ts";
import type { CanonicalRequest, Json, JsonObject, Tool, ToolChoice } from "./canonical/request.ts";

/** The members of a declaration that every protocol has. */
export const functionKeys: ReadonlySet<string> = new Set([
  "name",
  "description",
  "parameters",
  "strict",
]);

/** Reads what declares a function; the protocols differ in where it stands. */
export function decodeFunction(wire: WireObject): Tool {
  const { name, description, parameters, strict } = wire;
  return {
    name: String(name),
    ...(typeof description === "string" ? { description } : {}),
    ...(isObject(parameters) ? { parameters: exactly(parameters) as JsonObject } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

/**
 * A choice among tools of which no other protocol knows one; undefined for what none of them can say. Only where the list is
 * empty and no call is asked for is it a wish that all know.
 */
export const choiceOfNone = (tools: readonly unknown[], mode: unknown): ToolChoice | undefined =>
  tools.length === 0 && mode !== "required" ? { type: "none" } : undefined;

/** How a protocol writes tools, and the choice among them. */
interface ToolWriter {
  readonly tools: (tools: readonly Tool[]) => JsonObject[];
  readonly choice: (choice: ToolChoice, kindOf: KindOfTool) => Json;
}

/** By its name, and that of what it is within, what kind of tool is offered. */
export type KindOfTool = (name: string, namespace?: string) => "function" | "custom";

/** One text for a name and that of what it is within: no two tools have the same. */
export const toolKey = (name: string, namespace?: string): string =>
  JSON.stringify([namespace, name]);

/** The name of what a tool that is called, or chosen, is within, as the wire has it: nothing where it is within none. */
export function withinOf({ namespace }: WireObject): { readonly namespace?: string } {
  const name = nonEmpty(namespace);
  return name === undefined ? {} : { namespace: name };
}

/** Kinds of the tools of a request. A name that is not offered counts as a function's, and so does one of both kinds that was not chosen as custom. */
export function kindsOf(tools: readonly Tool[], choice: ToolChoice | undefined): KindOfTool {
  const keys = (kind: readonly Tool[]) =>
    new Set(kind.map(({ name, namespace }) => toolKey(name, namespace?.name)));
  const custom = keys(tools.filter((tool) => tool.custom));
  const functions = keys(tools.filter((tool) => !tool.custom));
  const isChosen = choice?.type === "tool" && choice.custom === true;
  return (name, namespace) => {
    const key = toolKey(name, namespace);
    return custom.has(key) && (isChosen || !functions.has(key)) ? "custom" : "function";
  };
}

/** Sets the tools of a request and what goes with them. */
export function setTools(
  { tools = [], toolChoice, parallelToolCalls }: CanonicalRequest,
  set: (key: string, value: Json | undefined) => void,
  writer: ToolWriter,
): void {
  // Without tools there is nothing to choose from, or to call in parallel: upstreams refuse it (RESP-16).
  if (tools.length === 0) return;
  set("tools", writer.tools(tools));
  set("tool_choice", toolChoice && writer.choice(toolChoice, kindsOf(tools, toolChoice)));
  set("parallel_tool_calls", parallelToolCalls);
}

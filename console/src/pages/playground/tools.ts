/** Parses typed tools: JSON, checked before it is sent. Pure. */
import type { Tool } from "./conversation.ts";
import { at } from "./json.ts";

const weather: Tool = {
  name: "get_weather",
  description: "The weather of a place now.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, unit: { enum: ["celsius", "fahrenheit"] } },
    required: ["city"],
  },
};

const search: Tool = {
  name: "search_orders",
  description: "Orders of a customer, newest first.",
  parameters: {
    type: "object",
    properties: {
      customer_id: { type: "string" },
      status: { type: "string", enum: ["open", "shipped", "returned"] },
      limit: { type: "integer", minimum: 1, maximum: 50 },
    },
    required: ["customer_id"],
  },
};

const shown = (...tools: readonly Tool[]): string => JSON.stringify(tools, null, 2);

/** By button label. */
export const examples: Readonly<Record<string, string>> = {
  "Example: one tool": shown(weather),
  "Example: two tools": shown(weather, search),
};

const name = /^[A-Za-z_][\w-]{0,63}$/;

function faultOf(tool: unknown, index: number): string | undefined {
  const where = `Tool ${index + 1}`;
  const called = at(tool, "name");
  if (typeof called !== "string" || !name.test(called))
    return `${where}: "name" must be letters, digits, _ or -, at most 64 of them.`;
  const parameters = at(tool, "parameters");
  if (typeof parameters !== "object" || parameters === null || Array.isArray(parameters))
    return `${where}: "parameters" must be a JSON Schema, as an object.`;
  if (at(parameters, "type") !== "object")
    return `${where}: the "type" of its "parameters" must be "object".`;
  const description = at(tool, "description");
  return description === undefined || typeof description === "string"
    ? undefined
    : `${where}: "description" must be text.`;
}

/** Returns the tools of a text, or its fault. An empty text has none. */
export function readTools(text: string): { tools: readonly Tool[]; fault?: string } {
  if (text.trim() === "") return { tools: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { tools: [], fault: `This is not valid JSON: ${(error as Error).message}` };
  }
  if (!Array.isArray(value)) return { tools: [], fault: "Tools must be a list: [...]." };
  const fault = value.map(faultOf).find((one) => one !== undefined);
  return fault === undefined ? { tools: value as Tool[] } : { tools: [], fault };
}

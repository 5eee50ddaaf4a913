/** Tools of the messages protocol: those of the request, and those that turns add and remove. T33. */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { keepMarker, markerOf } from "../cache-marker.ts";
import type { JsonObject, NativeField, Tool, ToolChange } from "../canonical/request.ts";
import { keepUnknown } from "../native.ts";
import { nonEmpty, type Fields, type Gathered } from "../read.ts";

const toolFields = new Set([
  "type",
  "name",
  "description",
  "input_schema",
  "strict",
  "cache_control",
]);

export function decodeTools(body: WireObject, { names, native }: Gathered): Fields {
  if (!Array.isArray(body["tools"])) return {};
  const tools: Tool[] = [];
  for (const [index, wire] of body["tools"].entries()) {
    const param = `tools[${index}]`;
    const type: unknown = isObject(wire) ? (wire["type"] ?? "custom") : undefined;
    if (isObject(wire) && type === "custom") {
      tools.push(decodeTool(wire));
      keepUnknown(wire, toolFields, param, native);
      keepMarker(wire, param, native);
    } else native.push({ param, value: wire });
  }
  names.tools = "tools";
  return { tools };
}

function decodeTool(wire: WireObject): Tool {
  const { name, description, input_schema: schema, strict } = wire;
  const cache = markerOf(wire);
  return {
    name: String(name),
    ...(typeof description === "string" ? { description } : {}),
    parameters: exactTwinOf(schema) as JsonObject,
    ...(typeof strict === "boolean" ? { strict } : {}),
    ...(cache ? { cache } : {}),
  };
}

/** Reads the changes that turns make to the tools. Their blocks are native fields, because no other protocol has them. */
export function decodeToolChanges(native: readonly NativeField[]): Fields {
  const changes = native.flatMap(({ param, value }) => {
    const change = blockPlace.test(param) && isObject(value) ? changeOf(value, param) : undefined;
    return change ? [{ param, ...change }] : [];
  });
  return changes.length === 0 ? {} : { toolChanges: changes };
}

const blockPlace = /^messages\[\d+\]\.content\[\d+\]$/;

/** Undefined for tools that the vendor has or calls itself. */
function changeOf(
  { type, tool }: WireObject,
  param: string,
): Omit<ToolChange, "param"> | undefined {
  if (!isObject(tool)) return undefined;
  const name = tool["type"] === "tool_reference" ? nonEmpty(tool["name"]) : undefined;
  if (type === "tool_removal") return name === undefined ? undefined : { removed: [name] };
  if (type !== "tool_addition") return undefined;
  if (name !== undefined) return { offered: [name] };
  const { definition } = tool;
  if (tool["type"] !== "tool_definition" || !isObject(definition) || !isOwn(definition))
    return undefined;
  const native: NativeField[] = [];
  keepUnknown(definition, toolFields, `${param}.tool.definition`, native);
  return { added: [decodeTool(definition)], native };
}

const isOwn = ({ type = "custom", name, input_schema: schema }: WireObject): boolean =>
  (type === "custom" || type === null) && nonEmpty(name) !== undefined && isObject(schema);

/** Tools of the responses protocol: those of the request, alone or in namespaces, and those that items add. RESP, CONV; T33. */
import { isObject, type WireObject } from "../../base/json.ts";
import { pushAll } from "../../base/push-all.ts";
import type { NativeField, Tool, ToolChange } from "../canonical/request.ts";
import { decodeCustomTool } from "../custom-tools.ts";
import { decodeFunction, functionKeys } from "../function-tools.ts";
import { keepUnknown } from "../native.ts";
import { isSet, list, nonEmpty, type Fields, type Gathered } from "../read.ts";

const toolKeys = new Set(["type", ...functionKeys]);

export function decodeTools(wire: unknown, { names, native }: Gathered): Fields {
  if (!isSet(wire)) return {};
  names.tools = "tools";
  return { tools: decodeList(wire, "tools", native) };
}

const decodeList = (wire: unknown, place: string, native: NativeField[]): Tool[] =>
  list(wire).flatMap((tool, index) => {
    const param = `${place}[${index}]`;
    // The request check does not validate tools in items.
    const isNamed = isObject(tool) && (place === "tools" || nonEmpty(tool["name"]) !== undefined);
    const read = isNamed ? decodeDeclared(tool, param, native) : [];
    if (read.length === 0) native.push({ param, value: tool });
    return read;
  });

/** Reads the tools that items add: those of the caller's program, and those that a search has found. The items are native fields. */
export function decodeToolChanges(native: readonly NativeField[]): Fields {
  const changes = native.flatMap(({ param, value }): ToolChange[] => {
    if (!itemPlace.test(param) || !isObject(value) || !adding.has(value["type"])) return [];
    const others: NativeField[] = [];
    const added = decodeList(value["tools"], `${param}.tools`, others);
    return [{ param, added, native: others }];
  });
  return changes.length === 0 ? {} : { toolChanges: changes };
}

const itemPlace = /^input\[\d+\]$/;
const adding = new Set<unknown>(["additional_tools", "tool_search_output"]);

function decodeTool(wire: WireObject, param: string, native: NativeField[]): Tool | undefined {
  const { type, ...declared } = wire;
  if (type === "custom") return decodeCustomTool(declared, { param, native });
  if (type !== "function") return undefined;
  keepUnknown(wire, toolKeys, param, native);
  return decodeFunction(wire);
}

const namespaceKeys = new Set(["type", "name", "description", "tools"]);

/** Decodes the tools of one declaration: one tool, or all of a namespace; empty if none is known. */
function decodeDeclared(wire: WireObject, param: string, native: NativeField[]): Tool[] {
  const name = nonEmpty(wire["name"]);
  if (wire["type"] !== "namespace" || name === undefined) {
    const tool = decodeTool(wire, param, native);
    return tool ? [tool] : [];
  }
  const { description } = wire;
  const namespace = { name, ...(typeof description === "string" ? { description } : {}) };
  const others: NativeField[] = [];
  const within = list(wire["tools"]).flatMap((tool, index): Tool[] => {
    const place = `${param}.tools[${index}]`;
    // The request check does not require names in a namespace.
    const isNamed = isObject(tool) && nonEmpty(tool["name"]) !== undefined;
    const read = isNamed ? decodeTool(tool, place, others) : undefined;
    if (!read) others.push({ param: place, value: tool });
    return read ? [{ ...read, namespace }] : [];
  });
  if (within.length === 0) return [];
  pushAll(native, others);
  keepUnknown(wire, namespaceKeys, param, native);
  return within;
}

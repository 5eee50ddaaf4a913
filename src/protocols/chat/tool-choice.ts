/** Decodes `tool_choice` of chat completions, and its deprecated form, into the canonical choice. Requirements: CONV; T29, T33. */
import { isObject, type WireObject } from "../../base/json.ts";
import { pushAll } from "../../base/push-all.ts";
import type { NativeField, ToolChoice } from "../canonical/request.ts";
import { choiceOfNone } from "../function-tools.ts";
import { keepUnknown, keepUnknownIn } from "../native.ts";
import { isSet, list, nonEmpty, objectOf, type Fields, type Gathered } from "../read.ts";

/** The two names; the first one that is set counts. */
const choiceNames = ["tool_choice", "function_call"] as const;

/** Decodes the choice. Members that no other protocol knows are noted under their path. */
export function decodeToolChoice(body: WireObject, { names, native }: Gathered): Fields {
  const [name, ...others] = choiceNames.filter((key) => isSet(body[key]));
  if (name === undefined) return {};
  for (const other of others) native.push({ param: other, value: body[other] });
  const wire = body[name];
  const toolChoice = name === "tool_choice" ? choiceOf(wire, native) : legacyChoice(wire, native);
  if (!toolChoice) {
    native.push({ param: name, value: wire });
    return {};
  }
  names.toolChoice = name;
  return { toolChoice };
}

const nameOnly = new Set(["name"]);
const allowedOnly = new Set(["type", "allowed_tools"]);
const toolsOnly = new Set(["tools"]);
const allowedKeys = new Set(["mode", "tools"]);

function legacyChoice(wire: unknown, native: NativeField[]): ToolChoice | undefined {
  if (wire === "none" || wire === "auto") return { type: wire };
  const choice = objectOf(wire);
  keepUnknown(choice, nameOnly, "function_call", native);
  return { type: "tool", name: String(choice["name"]) };
}

/** Returns the kind of the chosen tool; undefined for kinds that other protocols lack. */
function kindOf({ type = "function" }: WireObject): "function" | "custom" | undefined {
  return type === "function" || type === "custom" ? type : undefined;
}

function choiceOf(wire: unknown, native: NativeField[]): ToolChoice | undefined {
  if (wire === "none" || wire === "auto" || wire === "required") return { type: wire };
  if (wire === "any") return { type: "required" };
  const choice = objectOf(wire);
  const kind = kindOf(choice);
  const name = kind && objectOf(choice[kind])["name"];
  if (kind && typeof name === "string") {
    keepUnknown(choice, new Set(["type", kind]), "tool_choice", native);
    keepUnknownIn(choice, kind, { known: nameOnly, prefix: "tool_choice", native });
    return { type: "tool", name, ...(kind === "custom" ? { custom: true } : {}) };
  }
  return choice["type"] === "allowed_tools" ? allowedChoice(choice, native) : undefined;
}

function allowedChoice(choice: WireObject, native: NativeField[]): ToolChoice | undefined {
  const allowed = objectOf(choice["allowed_tools"]);
  const { mode, tools } = allowed;
  const others: NativeField[] = [];
  const names: string[] = [];
  for (const [index, tool] of list(tools).entries()) {
    const param = `tool_choice.allowed_tools.tools[${index}]`;
    const kind = isObject(tool) ? kindOf(tool) : undefined;
    const name = isObject(tool) && kind ? nonEmpty(objectOf(tool[kind])["name"]) : undefined;
    if (!isObject(tool) || !kind || name === undefined) {
      others.push({ param, value: tool });
      continue;
    }
    names.push(name);
    keepUnknown(tool, new Set(["type", kind]), param, others);
    keepUnknownIn(tool, kind, { known: nameOnly, prefix: param, native: others });
  }
  if (names.length === 0) return choiceOfNone(list(tools), mode);
  pushAll(native, others);
  keepUnknown(choice, allowedOnly, "tool_choice", native);
  const known = mode === "auto" || mode === "required" ? allowedKeys : toolsOnly;
  keepUnknown(allowed, known, "tool_choice.allowed_tools", native);
  return { type: "allowed", mode: mode === "required" ? "required" : "auto", names };
}

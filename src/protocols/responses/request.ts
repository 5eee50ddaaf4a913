/** Decodes a responses request into the canonical form. Requirements: RESP, CONV. */
import { isObject, type WireObject } from "../../base/json.ts";
import { pushAll } from "../../base/push-all.ts";
import type {
  CanonicalRequest,
  JsonObject,
  Message,
  NativeField,
  Reasoning,
  ToolChoice,
  ToolWithin,
} from "../canonical/request.ts";
import type { RequestAddress } from "../codec.ts";
import { choiceOfNone, withinOf } from "../function-tools.ts";
import { keepUnknown } from "../native.ts";
import { declarationKeys, formatOf } from "../output-format.ts";
import {
  inRequestOrder,
  isSet,
  list,
  nonEmpty,
  objectOf,
  readRenamed,
  type Fields,
  type Gathered,
  type Mutable,
} from "../read.ts";
import { decodeInput } from "./items.ts";
import { decodeToolChanges, decodeTools } from "./tools.ts";
import { checkResponsesRequest } from "./wire.ts";

const renamed = {
  max_output_tokens: "maxOutputTokens",
  temperature: "temperature",
  top_p: "topP",
  parallel_tool_calls: "parallelToolCalls",
  user: "endUserId",
  prompt_cache_key: "promptCacheKey",
  metadata: "metadata",
  store: "store",
} as const;

// Only in Open Responses, not in OpenAI's protocol.
const penalties = {
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
} as const;

const known = new Set([
  "model",
  "stream",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "text",
  "reasoning",
  "stream_options",
  ...Object.keys(renamed),
]);

/** @throws GatewayError naming the offending field. */
export function decodeRequest(body: JsonObject, address: RequestAddress): CanonicalRequest {
  checkResponsesRequest(body);
  const gathered: Gathered = { names: {}, native: [] };
  const messages = [
    ...systemOf(body["instructions"]),
    ...decodeInput(body["input"], gathered.native),
  ];
  const fields: Fields = {
    ...readRenamed(body, renamed, gathered.names),
    ...decodePenalties(body, gathered),
    ...decodeTools(body["tools"], gathered),
    ...decodeToolChanges(gathered.native),
    ...decodeToolChoice(body["tool_choice"], gathered),
    ...decodeText(body["text"], gathered),
    ...decodeReasoningWish(body["reasoning"], gathered),
  };
  if (isObject(body["stream_options"])) {
    keepUnknown(body["stream_options"], new Set(), "stream_options", gathered.native);
  }
  return {
    ...fields,
    protocol: "responses",
    model: address.model,
    stream: address.stream,
    messages,
    native: inRequestOrder(body, gathered.native),
    names: gathered.names,
  };
}

const systemOf = (instructions: unknown): Message[] => {
  const text = nonEmpty(instructions);
  return text === undefined ? [] : [{ role: "system", content: [{ type: "text", text }] }];
};

/** Decodes the penalties and notes all unknown fields; an invalid penalty counts as unknown. */
function decodePenalties(body: WireObject, { names, native }: Gathered): Fields {
  const valid = Object.keys(penalties).filter((key) => {
    const value = body[key];
    return typeof value === "number" && value >= -2 && value <= 2;
  });
  keepUnknown(body, new Set([...known, ...valid]), "", native);
  const values = Object.fromEntries(valid.map((key) => [key, body[key]]));
  return readRenamed(values, penalties, names);
}

function decodeToolChoice(wire: unknown, { names, native }: Gathered): Fields {
  if (!isSet(wire)) return {};
  const toolChoice = choiceOf(wire, native);
  if (!toolChoice) {
    native.push({ param: "tool_choice", value: wire });
    return {};
  }
  names.toolChoice = "tool_choice";
  return { toolChoice };
}

const named = new Set(["type", "name"]);
const namedWithin = new Set([...named, "namespace"]);
const callable = new Set<unknown>(["function", "custom"]);
const toolsOnly = new Set(["type", "tools"]);
const allowedKeys = new Set(["type", "mode", "tools"]);

function choiceOf(wire: unknown, native: NativeField[]): ToolChoice | undefined {
  if (wire === "none" || wire === "auto" || wire === "required") return { type: wire };
  const choice = objectOf(wire);
  const { type, name } = choice;
  if (type === "function" || (type === "custom" && typeof name === "string")) {
    const within = withinOf(choice);
    keepUnknown(choice, within.namespace ? namedWithin : named, "tool_choice", native);
    const kind = type === "custom" ? ({ custom: true } as const) : {};
    return { type: "tool", name: String(name), ...within, ...kind };
  }
  return choice["type"] === "allowed_tools" ? allowedChoice(choice, native) : undefined;
}

function allowedChoice(choice: WireObject, native: NativeField[]): ToolChoice | undefined {
  const others: NativeField[] = [];
  const names: string[] = [];
  const within: ToolWithin[] = [];
  for (const [index, tool] of list(choice["tools"]).entries()) {
    const param = `tool_choice.tools[${index}]`;
    const isOurs = isObject(tool) && callable.has(tool["type"] ?? "function");
    const name = isOurs ? nonEmpty(tool["name"]) : undefined;
    if (!isOurs || name === undefined) {
      others.push({ param, value: tool });
      continue;
    }
    const { namespace } = withinOf(tool);
    if (namespace === undefined) names.push(name);
    else within.push({ namespace, name });
    keepUnknown(tool, namespace === undefined ? named : namedWithin, param, others);
  }
  if (names.length + within.length === 0)
    return choiceOfNone(list(choice["tools"]), choice["mode"]);
  pushAll(native, others);
  const { mode } = choice;
  const known = mode === "auto" || mode === "required" ? allowedKeys : toolsOnly;
  keepUnknown(choice, known, "tool_choice", native);
  const those = within.length > 0 ? { within } : {};
  return { type: "allowed", mode: mode === "required" ? "required" : "auto", names, ...those };
}

const formatKeys = new Set(["type"]);
const schemaFormatKeys = new Set(["type", ...declarationKeys]);
const textKeys = new Set(["format", "verbosity"]);

function decodeText(wire: unknown, { names, native }: Gathered): Fields {
  if (!isObject(wire)) return {};
  const fields: Fields = {};
  const wish = objectOf(wire["format"]);
  const format = formatOf(wish, wish);
  if (format) {
    fields.outputFormat = format;
    names.outputFormat = "text.format";
    const keys = format.type === "json_schema" ? schemaFormatKeys : formatKeys;
    keepUnknown(wish, keys, "text.format", native);
  }
  const verbosity = nonEmpty(wire["verbosity"]);
  if (verbosity !== undefined) {
    fields.verbosity = verbosity;
    names.verbosity = "text.verbosity";
  }
  keepUnknown(wire, textKeys, "text", native);
  return fields;
}

const wishes = {
  effort: "effort",
  // The deprecated name; a `summary` beside it wins.
  generate_summary: "summary",
  summary: "summary",
  mode: "mode",
  context: "context",
} as const;

/** Values are not checked: the upstream knows which ones its model supports (RESP-24). */
function decodeReasoningWish(wire: unknown, { names, native }: Gathered): Fields {
  if (!isObject(wire)) return {};
  const reasoning: Mutable<Reasoning> = {};
  const understood = new Set<string>();
  for (const [key, member] of Object.entries(wishes)) {
    const value = wire[key];
    if (typeof value !== "string") continue;
    understood.add(key);
    reasoning[member] = value;
    names[`reasoning.${member}`] = `reasoning.${key}`;
  }
  keepUnknown(wire, understood, "reasoning", native);
  return understood.size > 0 ? { reasoning } : {};
}

/** Decodes a chat-completions request into the canonical form. Requirements: CONV. */
import { isObject, type WireObject } from "../../base/json.ts";
import type { CanonicalRequest, JsonObject, NativeField, Tool } from "../canonical/request.ts";
import type { RequestAddress } from "../codec.ts";
import { keepMarker, markerOf } from "../cache-marker.ts";
import { decodeCustomTool } from "../custom-tools.ts";
import { decodeFunction, functionKeys } from "../function-tools.ts";
import { keepUnknown, keepUnknownIn } from "../native.ts";
import { declarationKeys, formatOf } from "../output-format.ts";
import {
  inRequestOrder,
  isSet,
  list,
  objectOf,
  readRenamed,
  type Fields,
  type Gathered,
} from "../read.ts";
import { decodeMessages } from "./messages.ts";
import { decodeToolChoice } from "./tool-choice.ts";
import { checkChatRequest } from "./wire.ts";

const renamed = {
  temperature: "temperature",
  top_p: "topP",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  parallel_tool_calls: "parallelToolCalls",
  verbosity: "verbosity",
  user: "endUserId",
  prompt_cache_key: "promptCacheKey",
  metadata: "metadata",
  store: "store",
} as const;

const known = new Set([
  "model",
  "stream",
  "messages",
  "stop",
  "max_completion_tokens",
  "max_tokens",
  "tools",
  "tool_choice",
  "functions",
  "function_call",
  "response_format",
  "reasoning_effort",
  "stream_options",
  ...Object.keys(renamed),
]);

/** @throws GatewayError naming the offending field. */
export function decodeRequest(body: JsonObject, address: RequestAddress): CanonicalRequest {
  checkChatRequest(body);
  const gathered: Gathered = { names: {}, native: [] };
  const messages = decodeMessages(body["messages"], gathered.native);
  const fields: Fields = {
    ...readRenamed(body, renamed, gathered.names),
    ...decodeLimits(body, gathered),
    ...decodeTools(body, gathered),
    ...decodeToolChoice(body, gathered),
    ...decodeFormat(body["response_format"], gathered),
    ...decodeStreamOptions(body["stream_options"], gathered),
  };
  if (typeof body["reasoning_effort"] === "string") {
    fields.reasoning = { effort: body["reasoning_effort"] };
    gathered.names["reasoning.effort"] = "reasoning_effort";
  }
  keepUnknown(body, known, "", gathered.native);
  return {
    ...fields,
    protocol: "chat",
    model: address.model,
    stream: address.stream,
    messages,
    native: inRequestOrder(body, gathered.native),
    names: gathered.names,
  };
}

/** `max_completion_tokens` replaces `max_tokens`; if both are set, the old one has no effect. */
function decodeLimits(body: WireObject, { names, native }: Gathered): Fields {
  const fields: Fields = {};
  const { stop, max_completion_tokens: newer, max_tokens: older } = body;
  const [name, maximum] = isSet(newer) ? ["max_completion_tokens", newer] : ["max_tokens", older];
  if (isSet(maximum)) {
    fields.maxOutputTokens = maximum as number;
    names.maxOutputTokens = name;
  }
  if (isSet(newer) && isSet(older) && newer !== older) {
    native.push({ param: "max_tokens", value: older });
  }
  if (isSet(stop)) {
    fields.stop = typeof stop === "string" ? [stop] : (stop as string[]);
    names.stop = "stop";
  }
  return fields;
}

const toolKeys = new Set(["type", "function", "cache_control"]);
const customKeys = new Set(["type", "custom", "cache_control"]);

function decodeTools(body: WireObject, { names, native }: Gathered): Fields {
  const tools: Tool[] = [];
  for (const [index, wire] of list(body["tools"]).entries()) {
    const param = `tools[${index}]`;
    const tool = isObject(wire) ? decodeTool(wire, param, native) : undefined;
    if (tool && isObject(wire)) {
      const cache = markerOf(wire);
      tools.push(cache ? { ...tool, cache } : tool);
      keepMarker(wire, param, native);
    } else native.push({ param, value: wire });
  }
  for (const [index, wire] of list(body["functions"]).entries()) {
    if (!isObject(wire)) continue;
    tools.push(decodeFunction(wire));
    keepUnknown(wire, functionKeys, `functions[${index}]`, native);
  }
  const name = ["tools", "functions"].find((key) => isSet(body[key]));
  if (name === undefined) return {};
  names.tools = name;
  if (name === "tools") return { tools };
  // With `functions`, an answer can hold only one call.
  names.parallelToolCalls = name;
  return { tools, parallelToolCalls: false };
}

function decodeTool(wire: WireObject, param: string, native: NativeField[]): Tool | undefined {
  const { type, function: declared, custom } = wire;
  if (type === "function" && isObject(declared)) {
    keepUnknown(wire, toolKeys, param, native);
    keepUnknown(declared, functionKeys, `${param}.function`, native);
    return decodeFunction(declared);
  }
  if (type !== "custom" || !isObject(custom)) return undefined;
  const tool = decodeCustomTool(custom, { param: `${param}.custom`, native, within: "grammar" });
  if (tool) keepUnknown(wire, customKeys, param, native);
  return tool;
}

const formatKeys = new Set(["type"]);
const schemaFormatKeys = new Set(["type", "json_schema"]);
const schemaKeys = new Set(declarationKeys);

function decodeFormat(wire: unknown, { names, native }: Gathered): Fields {
  if (!isObject(wire)) return {};
  const outputFormat = formatOf(wire, objectOf(wire["json_schema"]));
  if (!outputFormat) {
    native.push({ param: "response_format", value: wire });
    return {};
  }
  names.outputFormat = "response_format";
  const hasSchema = outputFormat.type === "json_schema";
  keepUnknown(wire, hasSchema ? schemaFormatKeys : formatKeys, "response_format", native);
  const declaration = { known: schemaKeys, prefix: "response_format", native };
  if (hasSchema) keepUnknownIn(wire, "json_schema", declaration);
  return { outputFormat };
}

const streamOptions = new Set(["include_usage"]);

function decodeStreamOptions(wire: unknown, { names, native }: Gathered): Fields {
  if (!isObject(wire)) return {};
  keepUnknown(wire, streamOptions, "stream_options", native);
  if (typeof wire["include_usage"] !== "boolean") return {};
  names.includeUsage = "stream_options.include_usage";
  return { includeUsage: wire["include_usage"] };
}

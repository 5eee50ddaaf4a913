/**
 * Decodes a messages request into the canonical form. Requirements: CONV. Members that only this protocol has become native fields, under
 * the caller's names.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { GatewayError } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type {
  CanonicalRequest,
  JsonObject,
  Message,
  NativeField,
  OutputFormat,
  Reasoning,
  ToolChoice,
} from "../canonical/request.ts";
import type { RequestAddress } from "../codec.ts";
import { keepUnknown, keepUnknownIn } from "../native.ts";
import { isSet, list, readRenamed, type Fields, type Gathered, type Mutable } from "../read.ts";
import { compileCheck } from "../wire-check.ts";
import { decodeContent, decodeInner } from "./blocks.ts";
import { decodeToolChanges, decodeTools } from "./tools.ts";
import { withoutUnset } from "./unset-sampling.ts";
import { messagesRequest } from "./wire.ts";

const checkFields = compileCheck(messagesRequest);

/**
 * Validates a body of `POST /v1/messages`.
 * @throws GatewayError naming the first field at fault, or `thread_unsupported_request`
 */
export function validate(body: JsonObject): void {
  checkFields(body);
  refuseThread(body["thread"]);
}

/**
 * Refuses threads: a thread's next request holds only its new messages. Other upstreams would lose the rest, and the gateway could not
 * reserve for its unknown size. The vendor's SDK recognises exactly this error and sends the whole conversation instead.
 */
function refuseThread(thread: unknown): void {
  if (!isSet(thread)) return;
  throw new GatewayError(
    "thread_unsupported_request",
    "The gateway keeps no conversation, so it cannot serve a message thread. Send the whole conversation in messages, without thread.",
    { param: "thread", details: { unsupported: ["thread"] } },
  );
}

const knownFields = new Set([
  "model",
  "stream",
  "messages",
  "system",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "metadata",
]);

/** @throws GatewayError naming the offending field. */
export function decodeRequest(body: JsonObject, address: RequestAddress): CanonicalRequest {
  validate(body);
  const gathered: Gathered = { names: {}, native: [] };
  const messages = decodeMessages(body, gathered.native);
  const request: Fields = {
    ...readRenamed(withoutUnset(body), sampling, gathered.names),
    ...decodeTools(body, gathered),
    ...decodeToolChanges(gathered.native),
    ...decodeToolChoice(body, gathered),
    ...decodeReasoning(body, gathered),
    ...decodeMetadata(body["metadata"], gathered),
  };
  keepUnknown(body, knownFields, "", gathered.native);
  return {
    ...request,
    protocol: "messages",
    model: address.model,
    stream: address.stream,
    messages,
    native: gathered.native,
    names: gathered.names,
  };
}

function decodeMessages(body: WireObject, native: NativeField[]): Message[] {
  const messages: Message[] = [];
  const system = decodeInner(body["system"], "system", native);
  if (system.length > 0) messages.push({ role: "system", content: system });
  for (const [index, wire] of list(body["messages"]).entries()) {
    if (!isObject(wire)) continue;
    const role = wire["role"] === "assistant" || wire["role"] === "system" ? wire["role"] : "user";
    const param = `messages[${index}]`;
    const content = decodeContent(wire["content"], `${param}.content`, native);
    const isCleared = role === "system" && wire["clear_at"] === "next_user_message";
    messages.push({ role, content, ...(isCleared ? { clearedAt: `${param}.clear_at` } : {}) });
    keepUnknown(wire, messageFields, param, native);
  }
  return messages;
}

const messageFields = new Set(["role", "content"]);

const sampling = {
  max_tokens: "maxOutputTokens",
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
  stop_sequences: "stop",
} as const;

function decodeToolChoice(body: WireObject, { names, native }: Gathered): Fields {
  const wire = body["tool_choice"];
  if (!isObject(wire)) return {};
  if (wire["type"] === "tool" && isVendorTool(wire["name"], list(body["tools"]))) {
    native.push({ param: "tool_choice", value: wire });
    return {};
  }
  names.toolChoice = "tool_choice";
  const fields: Fields = { toolChoice: toolChoice(wire) };
  const disabled = wire["disable_parallel_tool_use"];
  if (typeof disabled === "boolean") {
    fields.parallelToolCalls = !disabled;
    names.parallelToolCalls = "tool_choice.disable_parallel_tool_use";
  }
  const known = wire["type"] === "tool" ? namedChoiceFields : choiceFields;
  keepUnknown(wire, known, "tool_choice", native);
  return fields;
}

/** True for the name of a vendor's own tool: other upstreams are not offered it. */
function isVendorTool(name: unknown, tools: readonly unknown[]): boolean {
  const tool = tools.filter(isObject).find((one) => one["name"] === name);
  return tool !== undefined && (tool["type"] ?? "custom") !== "custom";
}

const choiceFields = new Set(["type", "disable_parallel_tool_use"]);
const namedChoiceFields = new Set([...choiceFields, "name"]);

function toolChoice(wire: WireObject): ToolChoice {
  switch (wire["type"]) {
    case "any":
      return { type: "required" };
    case "tool":
      return { type: "tool", name: String(wire["name"]) };
    case "none":
      return { type: "none" };
    default:
      return { type: "auto" };
  }
}

function decodeReasoning(body: WireObject, gathered: Gathered): Fields {
  const { names, native } = gathered;
  const fields: Fields = {};
  const reasoning: Mutable<Reasoning> = { ...decodeThinkingConfig(body["thinking"], gathered) };
  const output = body["output_config"];
  if (isObject(output)) {
    if (typeof output["effort"] === "string") {
      reasoning.effort = output["effort"];
      names["reasoning.effort"] = "output_config.effort";
    }
    const format = outputFormat(output["format"]);
    if (format) {
      fields.outputFormat = format;
      names.outputFormat = "output_config.format";
    }
    const known = format ? outputFields : outputFieldsWithoutFormat;
    keepUnknown(output, known, "output_config", native);
    const inner = { known: formatFields, prefix: "output_config", native };
    if (format) keepUnknownIn(output, "format", inner);
  }
  if (Object.keys(reasoning).length > 0) fields.reasoning = reasoning;
  return fields;
}

const formatFields = new Set(["type", "schema"]);
const outputFields = new Set(["effort", "format"]);
const outputFieldsWithoutFormat = new Set(["effort"]);

function outputFormat(wire: unknown): OutputFormat | undefined {
  if (!isObject(wire) || wire["type"] !== "json_schema") return undefined;
  return { type: "json_schema", schema: exactTwinOf(wire["schema"]) as JsonObject };
}

function decodeThinkingConfig(wire: unknown, { names, native }: Gathered): Reasoning {
  if (!isObject(wire)) return {};
  const { type, budget_tokens: budget, display } = wire;
  if (type === "between_tools") {
    native.push({ param: "thinking", value: wire });
    return {};
  }
  const reasoning: Mutable<Reasoning> = {};
  if (type === "enabled" && typeof budget === "number") {
    reasoning.budget = budget;
    names["reasoning.budget"] = "thinking.budget_tokens";
  } else {
    reasoning.budget = type === "disabled" ? 0 : "dynamic";
    names["reasoning.budget"] = "thinking";
  }
  const known = ["type"];
  if (type === "enabled") known.push("budget_tokens");
  if (display === "summarized" || display === "omitted") {
    known.push("display");
    reasoning.includeThoughts = display !== "omitted";
    names["reasoning.includeThoughts"] = "thinking.display";
  }
  keepUnknown(wire, new Set(known), "thinking", native);
  return reasoning;
}

function decodeMetadata(wire: unknown, { names, native }: Gathered): Fields {
  if (!isObject(wire)) return {};
  keepUnknown(wire, metadataFields, "metadata", native);
  const userId = wire["user_id"];
  if (typeof userId !== "string") return {};
  names.endUserId = "metadata.user_id";
  return { endUserId: userId };
}

const metadataFields = new Set(["user_id"]);

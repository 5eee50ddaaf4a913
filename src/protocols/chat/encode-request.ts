/**
 * Encodes the canonical form as a chat-completions request. Requirements: CONV. Never fails: `fit` has already truncated and removed
 * everything that the protocol cannot carry.
 */
import type {
  CanonicalRequest,
  Json,
  JsonObject,
  Message,
  OutputFormat,
  Part,
  Tool,
  ToolChoice,
  ToolResultPart,
} from "../canonical/request.ts";
import { joinText } from "../content-parts.ts";
import { removeFilteredFields } from "../filter.ts";
import { encodeCustomTool } from "../custom-tools.ts";
import { setTools, type KindOfTool } from "../function-tools.ts";
import { restoreNative } from "../native.ts";
import { formatWith } from "../output-format.ts";
import { member } from "../read.ts";
import { objectText } from "../tool-arguments.ts";
import { encodeContent, encodeMedia } from "./parts.ts";
import { encodeReasoning, encodeReasoningSettings } from "./reasoning.ts";
import { encodeCall } from "./response.ts";

/** Returns the upstream's body. `model` is the upstream's name. */
export function encodeRequest(request: CanonicalRequest, model: string): JsonObject {
  // Only in responses can the arguments of an earlier call be any text.
  const messages =
    request.protocol === "responses" ? request.messages.map(withObjects) : request.messages;
  const body: JsonObject = {
    model,
    messages: messages.flatMap((message) => encodeMessage(message, request)),
  };
  const set = (key: string, value: Json | undefined): void => {
    if (value !== undefined) body[key] = value;
  };
  set(maximumName(request), request.maxOutputTokens);
  set("temperature", request.temperature);
  set("top_p", request.topP);
  set("stop", request.stop && [...request.stop]);
  set("seed", request.seed);
  set("presence_penalty", request.presencePenalty);
  set("frequency_penalty", request.frequencyPenalty);
  setTools(request, set, { tools: (tools) => tools.map(encodeTool), choice: encodeToolChoice });
  set("response_format", request.outputFormat && encodeFormat(request.outputFormat));
  Object.assign(body, encodeReasoningSettings(request.reasoning));
  set("verbosity", request.verbosity);
  set("user", request.endUserId);
  set("prompt_cache_key", request.promptCacheKey);
  set("metadata", request.metadata);
  set("store", request.store);
  if (request.stream) {
    // Without it the stream reports no usage, and the gateway would bill an estimate (T47).
    set("stream", true);
    set("stream_options", { include_usage: true });
  }
  if (request.protocol === "chat") {
    restoreNative(body, request.native);
    removeFilteredFields(body);
  }
  return body;
}

/**
 * A chat caller's choice between the two names stays. Other callers get `max_tokens` (CONV-202), unless the vendor refuses it for reasoning
 * models.
 */
const maximumName = ({ protocol, names, maximumField }: CanonicalRequest): string =>
  (protocol === "chat" ? names.maxOutputTokens : maximumField) ?? "max_tokens";

function encodeTool(tool: Tool): JsonObject {
  if (tool.custom) return { type: "custom", custom: encodeCustomTool(tool, "grammar") };
  // Without a schema a tool has no arguments. MiniMax refuses one that leaves it out.
  const { name, description, parameters = { type: "object", properties: {} }, strict } = tool;
  const declaration: JsonObject = { name };
  if (description !== undefined) declaration["description"] = description;
  declaration["parameters"] = parameters;
  // False is the default, and some vendors refuse the word.
  if (strict === true) declaration["strict"] = true;
  return { type: "function", function: declaration };
}

function encodeToolChoice(choice: ToolChoice, kindOf: KindOfTool): Json {
  const named = (name: string): JsonObject => ({ type: kindOf(name), [kindOf(name)]: { name } });
  if (choice.type === "tool") return named(choice.name);
  if (choice.type !== "allowed") return choice.type;
  const allowed = { mode: choice.mode, tools: choice.names.map(named) };
  return { type: "allowed_tools", allowed_tools: allowed };
}

const encodeFormat = (format: OutputFormat): JsonObject =>
  formatWith(format, (declaration) => ({ json_schema: declaration }));

/**
 * Returns a turn whose calls have objects as arguments. vLLM, llama.cpp and most vendors refuse every later request of a conversation in
 * which a model once wrote something else.
 */
const withObjects = (message: Message): Message => ({
  ...message,
  content: message.content.map((part) =>
    part.type === "tool_call" && !part.custom
      ? { ...part, arguments: objectText(part.arguments) }
      : part,
  ),
});

/** Encodes one turn as messages. Each tool result becomes a message, directly after the calls and before the user's content. */
function encodeMessage(message: Message, { needsContent }: CanonicalRequest): JsonObject[] {
  const name = member("name", message.name);
  // All upstreams know `system`, but not all know `developer`; OpenAI reads `system` as `developer`.
  if (message.role === "system") {
    return [{ role: "system", content: joinText(message.content), ...name }];
  }
  if (message.role === "assistant") {
    const encoded = encodeAssistant(message.content);
    const said: JsonObject = needsContent ? { content: encoded["content"] ?? "" } : {};
    return [{ ...encoded, ...said, ...name }];
  }
  const results = message.content.filter((part) => part.type === "tool_result");
  const others = message.content.filter((part) => part.type !== "tool_result");
  const rest = [...results.flatMap(mediaOfResult), ...others];
  const said = rest.length > 0 ? [{ role: "user", content: encodeContent(rest), ...name }] : [];
  return [...results.map(encodeResult), ...said];
}

function encodeResult(result: ToolResultPart): JsonObject {
  return { role: "tool", tool_call_id: result.callId, content: joinText(result.content) };
}

/** A tool message holds only text. Pictures that a tool returned follow in the user's message, with their origin (T27). */
function mediaOfResult(result: ToolResultPart): Part[] {
  const media = result.content.filter((part) => part.type === "media");
  if (media.length === 0) return [];
  return [{ type: "text", text: `Returned by tool call ${result.callId}:` }, ...media];
}

function encodeAssistant(parts: readonly Part[]): JsonObject {
  const calls = parts.filter((part) => part.type === "tool_call");
  const refusals = parts.flatMap((part) => (part.type === "refusal" ? [part.text] : []));
  const media = parts.flatMap((part) => (part.type === "media" ? encodeMedia(part) : []));
  const text = joinText(parts);
  const message: JsonObject = {
    role: "assistant",
    content: text === "" && (calls.length > 0 || refusals.length > 0) ? null : text,
    ...encodeReasoning(parts.filter((part) => part.type === "reasoning")),
  };
  if (refusals.length > 0) message["refusal"] = refusals.join("");
  if (media.length > 0) message["images"] = media;
  if (calls.length > 0) {
    message["tool_calls"] = calls.map(encodeCall);
  }
  return message;
}

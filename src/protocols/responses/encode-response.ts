/** Encodes whole responses answers, and the items and objects that streams use. */
import { isObject } from "../../base/json.ts";
import type { Usage } from "../../base/usage.ts";
import type {
  Citation,
  Json,
  JsonObject,
  MediaSource,
  Part,
  TextPart,
  ToolCallPart,
} from "../canonical/request.ts";
import type { CanonicalResponse, Finish } from "../canonical/response.ts";
import type { AnswerContext, AnsweredRequest, WireError } from "../codec.ts";
import { characters, encodeFileCitation, encodeUrlCitation } from "../citations.ts";
import { kindsOf } from "../function-tools.ts";
import { streamError } from "../error-object.ts";
import { explained } from "../explained.ts";
import { formatMediaUrl } from "../media-url.ts";
import { member } from "../read.ts";
import { encodeFormat, encodeTool, encodeTools, encodeToolChoice } from "./encode-request.ts";
import { responseError } from "./errors.ts";
import { completeResponse } from "./response-object.ts";
import { writeUsage } from "./usage.ts";

/** Encodes the answer for a responses caller (CONV-702, CONV-706, CONV-710, CONV-714, RESP-51 to RESP-54). */
export function encodeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject {
  const ending = endingOf(response.finish);
  const isOwn = response.protocol === "responses";
  // As in streams: an empty text of another vendor is no message.
  const parts = explained(response).filter((part) => isOwn || !isEmptyText(part));
  const output = encodeOutput(parts, context.id, ending.status);
  return responseObject(context, ending, output, response.usage);
}

const isEmptyText = (part: Part): boolean => part.type === "text" && part.text === "";

/** The fields that report how a response ended. */
export interface Ending {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly incomplete_details: JsonObject | null;
  readonly error: JsonObject | null;
}

/** Returns `completed`, unless the answer was cut (RESP-54). */
export function endingOf(finish: Finish): Ending {
  switch (finish.reason) {
    case "length":
    case "content_filter": {
      const reason = finish.reason === "length" ? "max_output_tokens" : "content_filter";
      return { status: "incomplete", incomplete_details: { reason }, error: null };
    }
    case "error":
      return failedEnding({ message: "The upstream ended the answer with an error." });
    default:
      return { status: "completed", incomplete_details: null, error: null };
  }
}

/** The ending of a response that broke off. */
export const failedEnding = (error: Pick<WireError, "message" | "code">): Ending => ({
  status: "failed",
  incomplete_details: null,
  error: responseError(streamError(error)),
});

/** Builds the response object, echoing the caller's settings as the protocol requires. */
export function responseObject(
  { id, createdAt, model, request }: AnswerContext,
  ending: Ending,
  output: Json[],
  usage: Usage | undefined,
): JsonObject {
  const native = (param: string): Json =>
    (request.native.find((field) => field.param === param)?.value as Json | undefined) ?? null;
  const isOwn = request.protocol === "responses";
  const echoed = isOwn ? ["truncation", "top_logprobs", "max_tool_calls", "safety_identifier"] : [];
  return completeResponse(
    {
      id: `resp_${id}`,
      object: "response",
      created_at: createdAt,
      ...ending,
      output,
      usage: usage ? writeUsage(usage) : null,
      ...echoOf(request),
      ...Object.fromEntries(echoed.map((param) => [param, native(param)])),
    },
    model,
  );
}

/** Returns the caller's settings, as far as set; `completeResponse` adds the defaults. */
function echoOf(request: AnsweredRequest): JsonObject {
  const { reasoning, outputFormat, verbosity, tools = [], toolChoice } = request;
  const echo: Record<string, Json | undefined> = {
    max_output_tokens: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
    tools: encodeTools(tools, (tool) => ({
      ...(tool.custom ? {} : { description: null }),
      ...encodeTool(tool),
    })),
    tool_choice: toolChoice && encodeToolChoice(toolChoice, kindsOf(tools, toolChoice)),
    parallel_tool_calls: request.parallelToolCalls,
    reasoning: { ...member("effort", reasoning?.effort), ...member("summary", reasoning?.summary) },
    text: {
      format: encodeFormat(outputFormat ?? { type: "text" }),
      ...member("verbosity", verbosity),
    },
    metadata: request.metadata,
    store: request.store,
    prompt_cache_key: request.promptCacheKey,
  };
  return Object.assign({}, ...Object.entries(echo).map(([key, value]) => member(key, value)));
}

/** Neighbouring texts and refusals become parts of one message, unless one begins a new message; all else becomes separate items. */
function encodeOutput(parts: readonly Part[], id: string, status: string): JsonObject[] {
  const items: JsonObject[] = [];
  let openContent: Json[] | undefined;
  for (const part of parts) {
    const spoken = encodeMessagePart(part);
    if (!spoken) {
      const encoded = encodeItem(part, `${id}_${items.length}`);
      // A part without an item, such as another vendor's signature, does not end a message.
      if (encoded.length > 0) openContent = undefined;
      items.push(...encoded);
      continue;
    }
    if (!openContent || (part.type === "text" && part.newMessage)) {
      openContent = [];
      items.push(messageItem(`msg_${id}_${items.length}`, "completed", openContent));
    }
    openContent.push(spoken);
  }
  // Only the last item can be cut. A picture arrives whole, and its item has no `incomplete` status.
  const last = items.at(-1);
  const canBeCut = last && "status" in last && last["type"] !== "image_generation_call";
  if (status === "incomplete" && canBeCut) last["status"] = "incomplete";
  return items;
}

function encodeMessagePart(part: Part): JsonObject | undefined {
  if (part.type === "text") return textPart(part.text, annotationsOf(part));
  if (part.type === "refusal") return { type: "refusal", refusal: part.text };
  if (part.type !== "media" || part.source.kind === "base64") return undefined;
  return textPart(linkText(part.source));
}

/** An `output_text` part with the members that every client expects. */
export const textPart = (text: string, annotations: Json[] = []): JsonObject => ({
  type: "output_text",
  text,
  annotations,
  logprobs: [],
});

function annotationsOf({ text, citations }: TextPart): Json[] {
  if (citations === undefined) return [];
  const length = characters(text);
  return citations.map((citation) => encodeAnnotation(citation, length));
}

/** Encodes an annotation of a text with `length` characters. */
export const encodeAnnotation = (citation: Citation, length: number): JsonObject =>
  citation.file
    ? encodeFileCitation(citation, length)
    : { type: "url_citation", ...encodeUrlCitation(citation, 0, length) };

/** A message item of the assistant. */
export const messageItem = (id: string, status: string, content: Json[]): JsonObject => ({
  type: "message",
  id,
  status,
  role: "assistant",
  content,
});

function encodeItem(part: Part, id: string): JsonObject[] {
  switch (part.type) {
    case "reasoning": {
      const encrypted = encryptedOf(part.signature);
      // As in decoding: reasoning without text and without this protocol's encryption is no item.
      const isNone = part.text === "" && encrypted === undefined;
      return isNone ? [] : [reasoningItem(`rs_${id}`, part.text, "completed", encrypted)];
    }
    case "tool_call":
      return [callItem(`${part.custom ? "ctc" : "fc"}_${id}`, part, "completed")];
    case "media":
      return part.media === "image" && part.source.kind === "base64"
        ? [pictureItem(`ig_${id}`, part.source)]
        : [];
    default:
      return [];
  }
}

/** A picture that the model made, as an item of the vendor's picture tool. The protocol has no item for audio and video. */
export const pictureItem = (
  id: string,
  { mediaType, data }: { readonly mediaType: string; readonly data: string },
): JsonObject => ({
  type: "image_generation_call",
  id,
  status: "completed",
  output_format: mediaType.replace(/^image\//, ""),
  result: data,
});

/** Returns Markdown for a picture that is only a link: it has no item of its own. */
export const linkText = (source: MediaSource): string => `![](${formatMediaUrl(source) ?? ""})`;

/** Returns the encryption of a reasoning item; undefined for a signature of another protocol, which is invalid here (RESP-27). */
export const encryptedOf = (
  signature: { readonly protocol: string; readonly value: string } | undefined,
): string | undefined => (signature?.protocol === "responses" ? signature.value : undefined);

/**
 * Encodes reasoning as a summary: for raw reasoning text, the protocol's two dialects use different event names. `@ai-sdk/xai` fails at an
 * item without a status.
 */
export const reasoningItem = (
  id: string,
  text: string,
  status: string,
  encrypted?: string,
): JsonObject => ({
  type: "reasoning",
  id,
  status,
  summary: text === "" ? [] : [{ type: "summary_text", text }],
  ...member("encrypted_content", encrypted),
});

/** Matches ids of reasoning items that the gateway made: they contain the call's id. */
const ourReasoningId = /^rs_req_/;

/** True if an input item is reasoning that no upstream of this protocol sent. */
export function isOurReasoning(item: Json): boolean {
  if (!isObject(item) || item["type"] !== "reasoning") return false;
  const { id, encrypted_content: encrypted } = item;
  return typeof id === "string" && ourReasoningId.test(id) && !encrypted;
}

/** Encodes a call as an item; empty arguments of a complete function call become `{}`. */
export function callItem(
  id: string,
  call: Pick<ToolCallPart, "id" | "name" | "namespace" | "arguments" | "custom">,
  status: string,
): JsonObject {
  const { id: call_id, arguments: text } = call;
  const named = { name: call.name, ...member("namespace", call.namespace) };
  if (call.custom) return { type: "custom_tool_call", id, call_id, ...named, input: text, status };
  const written = text === "" && status === "completed" ? "{}" : text;
  return { type: "function_call", id, call_id, ...named, arguments: written, status };
}

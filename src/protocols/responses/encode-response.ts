/** Whole responses answers, and the items and objects that streams are made of, written from the canonical form. */
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
import type { AnswerContext, AnsweredRequest } from "../codec.ts";
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

/** Writes the answer for a responses caller (CONV-702, CONV-706, CONV-710, CONV-714, RESP-51 to RESP-54). */
export function encodeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject {
  const ending = endingOf(response.finish);
  const isOwn = response.protocol === "responses";
  // As in streams: another vendor's text of nothing is no message.
  const parts = explained(response).filter((part) => isOwn || !isNothing(part));
  const output = encodeOutput(parts, context.id, ending.status);
  return responseObject(context, ending, output, response.usage);
}

const isNothing = (part: Part): boolean => part.type === "text" && part.text === "";

/** How a response ended, as the fields that say so. */
export interface Ending {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly incomplete_details: JsonObject | null;
  readonly error: JsonObject | null;
}

/** `completed`, unless the answer was cut (RESP-54). */
export function endingOf(finish: Finish): Ending {
  switch (finish.reason) {
    case "length":
    case "content_filter": {
      const reason = finish.reason === "length" ? "max_output_tokens" : "content_filter";
      return { status: "incomplete", incomplete_details: { reason }, error: null };
    }
    case "error":
      return failedEnding("The upstream ended the answer with an error.");
    default:
      return { status: "completed", incomplete_details: null, error: null };
  }
}

/** A response that broke off. */
export const failedEnding = (message: string, code?: string): Ending => ({
  status: "failed",
  incomplete_details: null,
  error: responseError(streamError({ message, code })),
});

/** The response object, with what the caller asked echoed as the protocol wants it. */
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

/** What the caller asked, as far as it asked; the rest is completed with what applies then. */
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

/** Neighbouring texts and refusals are parts of one message, unless one begins anew; everything else is an item of its own. */
function encodeOutput(parts: readonly Part[], id: string, status: string): JsonObject[] {
  const items: JsonObject[] = [];
  let said: Json[] | undefined;
  for (const part of parts) {
    const spoken = spokenPart(part);
    if (!spoken) {
      said = undefined;
      items.push(...encodeItem(part, `${id}_${items.length}`));
      continue;
    }
    if (!said || (part.type === "text" && part.apart)) {
      said = [];
      items.push(messageItem(`msg_${id}_${items.length}`, "completed", said));
    }
    said.push(spoken);
  }
  // What was cut is the last thing said. A picture comes whole, and its item has no such status.
  const last = items.at(-1);
  const canBeCut = last && "status" in last && last["type"] !== "image_generation_call";
  if (status === "incomplete" && canBeCut) last["status"] = "incomplete";
  return items;
}

function spokenPart(part: Part): JsonObject | undefined {
  if (part.type === "text") return textPart(part.text, annotationsOf(part));
  if (part.type === "refusal") return { type: "refusal", refusal: part.text };
  if (part.type !== "media" || part.source.kind === "base64") return undefined;
  return textPart(linkText(part.source));
}

/** An `output_text` part with the members every reader expects. */
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

/** An annotation of a text of so many characters. */
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
      // As it is read: what shows nothing and proves nothing here is no item.
      const isNone = part.text === "" && encrypted === undefined;
      return isNone ? [] : [reasoningItem(`rs_${id}`, part.text, encrypted)];
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

/** A picture that the model made (the protocol has no place for sound and video), as the item of the vendor's own tool for pictures. */
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

/** A picture that is only a link has no item of its own. */
export const linkText = (source: MediaSource): string => `![](${formatMediaUrl(source) ?? ""})`;

/** The encryption of a reasoning item; that of another protocol means nothing here (RESP-27). */
export const encryptedOf = (
  signature: { readonly protocol: string; readonly value: string } | undefined,
): string | undefined => (signature?.protocol === "responses" ? signature.value : undefined);

/** Reasoning as a summary: raw reasoning text has different event names in the protocol's two dialects. */
export const reasoningItem = (id: string, text: string, encrypted?: string): JsonObject => ({
  type: "reasoning",
  id,
  summary: text === "" ? [] : [{ type: "summary_text", text }],
  ...member("encrypted_content", encrypted),
});

/** Ids of reasoning items that the gateway made: the call's own id is part of them. */
const ourReasoningId = /^rs_req_/;

/** Whether an input item is reasoning that no upstream of this protocol gave. */
export function isOurReasoning(item: Json): boolean {
  if (!isObject(item) || item["type"] !== "reasoning") return false;
  const { id, encrypted_content: encrypted } = item;
  return typeof id === "string" && ourReasoningId.test(id) && !encrypted;
}

/** An item of a call; no arguments of a function are an empty object once the call is complete. */
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

/** Decodes and encodes whole chat-completions answers. Requirements: CONV. */
import { pushAll } from "../../base/push-all.ts";
import { exactText } from "../../base/exact-numbers.ts";
import { GatewayError } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { tokenCount } from "../../base/usage.ts";
import type { Citation, JsonObject, Part, TextPart, ToolCallPart } from "../canonical/request.ts";
import type { CanonicalResponse } from "../canonical/response.ts";
import { callId, isServerCall } from "../call-id.ts";
import type { AnswerContext, AnsweredRequest } from "../codec.ts";
import {
  characters,
  decodeAnnotations,
  decodePages,
  encodeUrlCitation,
  withCitations,
} from "../citations.ts";
import { explained } from "../explained.ts";
import { inParagraph, Paragraphs } from "../paragraphs.ts";
import { list, member, nonEmpty, objectOf, objects } from "../read.ts";
import { decodeError } from "./errors.ts";
import { decodeFinish, encodeFinish } from "./finish.ts";
import { decodeContent, encodeMedia } from "./parts.ts";
import { decodeReasoning, encodeReasoning } from "./reasoning.ts";
import { readUsage, writeUsage } from "./usage.ts";

/**
 * Decodes an upstream's answer; only the first of several numbered choices. Choices without numbers are pieces of one answer: GitHub
 * Copilot puts the text and each call of Claude into choices of their own.
 * @throws GatewayError `upstream_error` for an error sent with status 200, or an answer without any choice.
 */
export function decodeResponse(body: JsonObject): CanonicalResponse {
  if (isObject(body["error"])) {
    throw new GatewayError("upstream_error", decodeError(200, body).message);
  }
  const choices = objects(body["choices"]);
  // Prefer index 0, as in a stream.
  const choice = choices.find(({ index }) => index === 0) ?? choices[0];
  if (!choice) throw new GatewayError("upstream_error", "The upstream's answer holds no choice.");
  const id = nonEmpty(body["id"]) ?? "";
  const pieces = choices.some(({ index }) => typeof index === "number") ? [choice] : choices;
  const messages = pieces.map(({ message }) => objectOf(message));
  const annotations = messages.flatMap((message) => decodeAnnotations(message["annotations"]));
  const cited = annotations.length > 0 ? annotations : decodePages(body);
  const said = messages.flatMap((message, at) =>
    decodeMessage(message, at === 0 ? id : `${id}${at}`),
  );
  const content = withCitations(said, cited);
  const hasCalls = content.some((part) => part.type === "tool_call");
  const usage = readUsage(body["usage"]);
  return {
    protocol: "chat",
    id,
    createdAt: tokenCount(body["created"]),
    content,
    finish: decodeFinish(choice["finish_reason"], hasCalls, choice["stop_reason"]),
    ...(usage ? { usage } : {}),
  };
}

/** Returns reasoning, text, refusal, pictures, calls. Empty texts are left out. */
function decodeMessage(message: WireObject, answerId: string): Part[] {
  const parts: Part[] = [];
  const reasoning = decodeReasoning(message);
  if (reasoning) parts.push(reasoning);
  pushAll(parts, contentParts(message["content"]));
  const refusal = nonEmpty(message["refusal"]);
  if (refusal !== undefined) parts.push({ type: "refusal", text: refusal });
  // OpenRouter puts generated pictures beside the text.
  pushAll(parts, decodeContent(list(message["images"]), "images", []));
  const calls = objects(message["tool_calls"]);
  if (isObject(message["function_call"])) calls.push({ function: message["function_call"] });
  const ids = new Set<string>();
  for (const [index, call] of calls.entries()) {
    const told = nonEmpty(call["id"]);
    // LocalAI gives all calls of an answer one id. Clients match results by it.
    const id = told === undefined || ids.has(told) ? callId(answerId, index) : told;
    ids.add(id);
    // Only the caller's own calls have a place in another protocol, as after the vendors' other tools.
    if (isServerCall(told)) continue;
    parts.push(decodeCall(call, id));
  }
  return parts;
}

/** Mistral and Databricks send content as parts, reasoning among them. Any part with a `text` counts as text, whatever its type. */
function contentParts(content: unknown): Part[] {
  const parts = Array.isArray(content) ? objects(content).map(asText) : content;
  const texts = decodeContent(parts, "content", []).filter(
    (part) => part.type !== "text" || part.text !== "",
  );
  return [...thinkingParts(content), ...texts];
}

const asText = (part: WireObject): WireObject =>
  typeof part["text"] === "string" ? { ...part, type: "text" } : part;

/** Returns the reasoning among the parts of a message or delta: Mistral's `thinking`, and `reasoning` of Claude at Databricks. */
export function thinkingParts(content: unknown): Part[] {
  return objects(content).flatMap((part) => {
    const pieces = thoughtsIn(part);
    if (pieces === undefined) return [];
    const text = pieces.map((piece) => nonEmpty(piece["text"]) ?? "").join("");
    return [{ type: "reasoning", text }];
  });
}

function thoughtsIn({ type, thinking, summary }: WireObject): WireObject[] | undefined {
  if (type === "thinking")
    return typeof thinking === "string" ? [{ text: thinking }] : objects(thinking);
  return type === "reasoning" ? objects(summary) : undefined;
}

function decodeCall(call: WireObject, id: string): ToolCallPart {
  const { function: declared, custom } = call;
  const isCustom = !isObject(declared) && isObject(custom);
  const named = objectOf(isCustom ? custom : declared);
  const written = named["arguments"] ?? named["input"] ?? (isCustom ? "" : {});
  return {
    type: "tool_call",
    id,
    name: nonEmpty(named["name"]) ?? "",
    // Ollama and some others send an object where the protocol requires JSON text (T3).
    arguments: typeof written === "string" ? written : exactText(written),
    ...(isCustom ? { custom: true } : {}),
  };
}

/** `system_fingerprint` of converted answers. `@openrouter/sdk` requires the field, and OpenAI's schema does not allow null. */
const fingerprint = "fp_tollgate";

/** Encodes the answer for a chat caller (CONV-701, CONV-705, CONV-709, CONV-713, CONV-801). */
export function encodeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject {
  const answer: JsonObject = {
    id: `chatcmpl-${context.id}`,
    object: "chat.completion",
    created: context.createdAt,
    model: context.model,
    choices: [encodeChoice(response, 0, usesFunctions(context.request))],
    system_fingerprint: fingerprint,
  };
  if (response.usage) answer["usage"] = writeUsage(response.usage);
  return answer;
}

/**
 * True if the caller offered its tools as `functions`, the deprecated way: it reads its call from `function_call`, which holds only one.
 */
export const usesFunctions = ({ names }: Pick<AnsweredRequest, "names">): boolean =>
  names.tools === "functions";

/** Encodes an answer as one choice. `asFunction`: its call goes into `function_call`. */
export function encodeChoice(response: CanonicalResponse, index: number, asFunction = false) {
  const { finish, protocol } = response;
  // vLLM's field, kept for callers of the same protocol.
  const stopReason = protocol === "chat" ? finish.stopSequence : undefined;
  const choice: JsonObject = {
    index,
    message: encodeMessage(explained(response), asFunction),
    logprobs: null,
    finish_reason: encodeFinish(finish, asFunction),
    ...member("stop_reason", stopReason),
  };
  return choice;
}

/** Joins texts. A text continues the one before; a separate message becomes a separate paragraph. */
function joined(texts: readonly TextPart[]): { content: string; annotations: JsonObject[] } {
  const paragraphs = new Paragraphs();
  const annotations: JsonObject[] = [];
  let content = "";
  let total = 0;
  for (const part of texts) {
    const said = inParagraph(paragraphs, part);
    content += said;
    total += characters(said);
    if (part.citations === undefined) continue;
    const length = characters(part.text);
    const offset = total - length;
    for (const citation of part.citations)
      annotations.push(...encodeAnnotation(citation, offset, length));
  }
  return { content, annotations };
}

/** Encodes a citation in a text that begins at `offset`; empty for a file, which the protocol cannot cite. */
export const encodeAnnotation = (
  citation: Citation,
  offset: number,
  length: number,
): JsonObject[] =>
  citation.file
    ? []
    : [{ type: "url_citation", url_citation: encodeUrlCitation(citation, offset, length) }];

function encodeMessage(parts: readonly Part[], asFunction: boolean): JsonObject {
  const texts = parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part] : []));
  const refusals = parts.flatMap((part) => (part.type === "refusal" ? [part.text] : []));
  const images = parts.flatMap((part) => (part.type === "media" ? encodeMedia(part) : []));
  const calls = parts.filter((part) => part.type === "tool_call");
  const { content, annotations } = joined(texts);
  const isOnlyText = calls.length === 0 && refusals.length === 0;
  const message: JsonObject = {
    role: "assistant",
    content: texts.length > 0 || isOnlyText ? content : null,
    refusal: refusals.length > 0 ? refusals.join("") : null,
    annotations,
    ...encodeReasoning(parts.filter((part) => part.type === "reasoning")),
  };
  if (images.length > 0) message["images"] = images;
  if (calls.length > 0 && asFunction) message["function_call"] = written(calls[0]!);
  else if (calls.length > 0) message["tool_calls"] = calls.map(encodeCall);
  return message;
}

const written = (call: ToolCallPart): JsonObject => ({
  name: call.name,
  arguments: call.arguments === "" ? "{}" : call.arguments,
});

/** Encodes a call of a request or an answer. */
export const encodeCall = (call: ToolCallPart): JsonObject =>
  call.custom
    ? { id: call.id, type: "custom", custom: { name: call.name, input: call.arguments } }
    : { id: call.id, type: "function", function: written(call) };

/**
 * The whole answer of the generateContent protocol, read and written. CONV-704,
 * CONV-708, CONV-712, CONV-716, CONV-717, CONV-819.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { JsonObject, Part, TextPart } from "../canonical/request.ts";
import type { CanonicalResponse, Finish } from "../canonical/response.ts";
import type { AnswerContext } from "../codec.ts";
import { withCitations } from "../citations.ts";
import { inParagraph, Paragraphs } from "../paragraphs.ts";
import { list, member, nonEmpty, objectOf, rowOf } from "../read.ts";
import { encodeCall, encodeSource, ownValue, signFirstCall } from "./encode-parts.ts";
import {
  decodeGrounding,
  encodeGrounding,
  type CitedText,
  type NumberedText,
} from "./grounding.ts";
import { OpenCalls } from "./open-calls.ts";
import { decodeParts, isDraft } from "./parts.ts";
import { decodeUsage, encodeUsage } from "./usage.ts";

/** An upstream's answer. Of several candidates the first counts; conversion never asks for more. */
export function decodeResponse(body: JsonObject): CanonicalResponse {
  const candidate = firstCandidate(body);
  const id = typeof body["responseId"] === "string" ? body["responseId"] : "";
  const all = isObject(candidate["content"]) ? candidate["content"]["parts"] : undefined;
  const parts = list(all).filter((part) => !isDraft(part));
  // Results of the vendor's own tools (code execution) have no canonical form and are left out.
  const said = decodeParts(parts, "", { native: [], calls: new OpenCalls(), place: placeOf(id) });
  const content = withCitations(said, decodeGrounding(candidate, textsOf(list(all))));
  const holds: Said = { calls: content.some(isCall), anything: content.some(isSaid) };
  const usage = decodeUsage(body["usageMetadata"]);
  return {
    protocol: "generate_content",
    id,
    createdAt: createdAt(body),
    content,
    finish: decodeFinish(
      {
        reason: candidate["finishReason"],
        message: candidate["finishMessage"],
        ...blockOf(body),
      },
      holds,
    ),
    ...(usage ? { usage } : {}),
  };
}

/** The texts of the answer itself. */
const textsOf = (parts: readonly unknown[]): NumberedText[] =>
  parts.flatMap((wire, part) => {
    const { text, thought } = objectOf(wire);
    return typeof text === "string" && thought !== true ? [{ part, text }] : [];
  });

const isCall = ({ type }: Part): boolean => type === "tool_call";

/** Whether a part is of the answer itself: what was thought on the way is not. */
const isSaid = (part: Part): boolean =>
  part.type !== "reasoning" && !(part.type === "text" && part.text === "");

function firstCandidate(body: WireObject): WireObject {
  const candidates = Array.isArray(body["candidates"]) ? body["candidates"] : [];
  const first: unknown = candidates.find((one) => isObject(one) && (one["index"] ?? 0) === 0);
  return isObject(first) ? first : {};
}

/**
 * What makes the ids of calls unique over a conversation (T21): the answer's id, which no two answers share.
 * Where an upstream gives none, a random one.
 */
export function placeOf(responseId: string): string {
  return responseId === "" ? crypto.randomUUID() : responseId.replace(/[^\w-]/g, "_");
}

/** A blocked prompt has a reason and no candidates. */
export function blockOf(body: WireObject): Pick<WireStop, "blocked" | "blockMessage"> {
  const { blockReason, blockReasonMessage } = objectOf(body["promptFeedback"]);
  return { blocked: nonEmpty(blockReason), blockMessage: nonEmpty(blockReasonMessage) };
}

/** Unix seconds; some deployments tell `createTime`. */
export function createdAt(body: WireObject): number {
  const time = typeof body["createTime"] === "string" ? Date.parse(body["createTime"]) : NaN;
  return Number.isNaN(time) ? 0 : Math.floor(time / 1000);
}

const reasonByWire: Readonly<Record<string, Finish["reason"]>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  // The most of one answer: it could be gone on with.
  CONTINUATION: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MODEL_ARMOR: "content_filter",
  JAILBREAK: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
  IMAGE_OTHER: "content_filter",
  MALFORMED_FUNCTION_CALL: "error",
  MALFORMED_RESPONSE: "error",
  UNEXPECTED_TOOL_CALL: "error",
  TOO_MANY_TOOL_CALLS: "error",
};

/** What an answer says of its end, as it came. */
export interface WireStop {
  readonly reason: unknown;
  readonly message?: unknown;
  /** Why the prompt was blocked. */
  readonly blocked?: string | undefined;
  readonly blockMessage?: string | undefined;
}

/** What an answer holds. */
export interface Said {
  readonly calls: boolean;
  /** A text, a picture or a call; thoughts do not count. */
  readonly anything: boolean;
}

/**
 * Calls end with STOP here, so their presence tells (CONV-717). Where there is only a reason why the prompt was blocked it was
 * blocked, whatever the reason. Without any reason the answer is no normal one, and neither is one of nothing that ended in a
 * word such as OTHER, LANGUAGE or NO_IMAGE: a model that has nothing to say ends with STOP.
 */
export function decodeFinish(
  { reason: raw, message, blocked, blockMessage }: WireStop,
  { calls: hasCalls, anything }: Said,
): Finish {
  const explained = (text: unknown) => (nonEmpty(text) ? { explanation: text as string } : {});
  if (typeof raw !== "string" && blocked !== undefined)
    return { reason: "content_filter", raw: blocked, ...explained(blockMessage) };
  if (typeof raw !== "string") return { reason: hasCalls ? "tool_calls" : "error" };
  const reason = rowOf(reasonByWire, raw) ?? (anything ? "stop" : "error");
  const known = reason === "stop" && hasCalls ? "tool_calls" : reason;
  return { reason: known, raw, ...explained(message) };
}

const wireByReason: Readonly<Record<Finish["reason"], string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  content_filter: "SAFETY",
  error: "OTHER",
};

/** Words without a meaning of their own elsewhere. */
const plain = new Set(["OTHER", "LANGUAGE"]);

/** `finishReason`, and the words beside it. The vendor's own word is kept where it was one of this protocol. */
export function encodeFinish({ reason, raw, explanation }: Finish): JsonObject {
  const isOwn = (word: string): boolean => Object.hasOwn(reasonByWire, word) || plain.has(word);
  const finishReason = raw !== undefined && isOwn(raw) ? raw : wireByReason[reason];
  return { finishReason, ...member("finishMessage", explanation) };
}

export function encodeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject {
  const parts: JsonObject[] = [];
  const cited: CitedText[] = [];
  // Clients join the texts of an answer.
  const paragraphs = new Paragraphs();
  for (const part of response.content) {
    const said = part.type === "text" ? { ...part, text: inParagraph(paragraphs, part) } : part;
    const wire = encodeAnswerPart(said);
    if (!wire) continue;
    if (part.type === "text" && said.type === "text" && part.citations)
      cited.push({ ...citedIn(part, said), part: parts.length });
    parts.push(wire);
  }
  if (response.protocol !== "generate_content") signFirstCall(parts);
  const candidate: JsonObject = {
    content: { role: "model", parts },
    ...encodeFinish(response.finish),
    ...encodeGrounding(cited),
    index: 0,
  };
  return {
    candidates: [candidate],
    ...(response.usage ? { usageMetadata: encodeUsage(response.usage) } : {}),
    modelVersion: context.model,
    responseId: answerId(response.protocol === "generate_content" ? response.id : "", context),
  };
}

/** A text with its citations, in a part that may begin with a break. */
const citedIn = ({ text, citations = [] }: TextPart, said: TextPart): CitedText => ({
  text,
  citations,
  offset: Buffer.byteLength(said.text) - Buffer.byteLength(text),
});

/** The upstream's own id where it spoke this protocol, else ours. */
export const answerId = (upstreamId: string, context: AnswerContext): string =>
  upstreamId === "" ? context.id : upstreamId;

/** A part of an answer. Thoughts are shown whoever thought them; a signature only where it is this protocol's. */
export function encodeAnswerPart(part: Part): JsonObject | undefined {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? undefined : { text: part.text };
    case "tool_call":
      return encodeCall(part);
    case "media":
      return encodeSource(part.source, true);
    case "reasoning": {
      const signature = ownValue(part.signature);
      if (part.text === "") {
        return signature === undefined ? undefined : { text: "", thoughtSignature: signature };
      }
      return signature === undefined
        ? { text: part.text, thought: true }
        : { text: part.text, thought: true, thoughtSignature: signature };
    }
    default:
      return undefined;
  }
}

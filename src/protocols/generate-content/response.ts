/** Decodes and encodes whole answers of the generateContent protocol. CONV-704, CONV-708, CONV-712, CONV-716, CONV-717, CONV-819. */
import { isObject, type WireObject } from "../../base/json.ts";
import type { JsonObject, Part, TextPart } from "../canonical/request.ts";
import { reasonWithCalls, type CanonicalResponse, type Finish } from "../canonical/response.ts";
import type { AnswerContext } from "../codec.ts";
import { withCitations } from "../citations.ts";
import { inParagraph, Paragraphs } from "../paragraphs.ts";
import { list, member, nonEmpty, objectOf, lookUp } from "../read.ts";
import { skipSignatureInAnswers } from "../skip-signature.ts";
import { encodeCall, encodeSource, signatureValue, signFirstCall } from "./encode-parts.ts";
import {
  decodeGrounding,
  encodeGrounding,
  type CitedText,
  type NumberedText,
} from "./grounding.ts";
import { OpenCalls } from "./open-calls.ts";
import { decodeParts, isDraft } from "./parts.ts";
import { decodeUsage, encodeUsage } from "./usage.ts";

/** Decodes an upstream's answer. Only the first candidate counts; conversion never asks for more. */
export function decodeResponse(body: JsonObject): CanonicalResponse {
  const candidate = firstCandidate(body);
  const id = typeof body["responseId"] === "string" ? body["responseId"] : "";
  const all = isObject(candidate["content"]) ? candidate["content"]["parts"] : undefined;
  const parts = list(all).filter((part) => !isDraft(part));
  // Results of the vendor's own tools (code execution) have no canonical form and are left out.
  const said = decodeParts(parts, "", {
    native: [],
    calls: new OpenCalls(),
    place: callIdScope(id),
  });
  const content = withCitations(said, decodeGrounding(candidate, textsOf(list(all))));
  const holds: ContentKinds = {
    calls: content.some(isCall),
    hasContent: content.some(isAnswerContent),
  };
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

/** Returns the texts of the answer itself, without thoughts. */
const textsOf = (parts: readonly unknown[]): NumberedText[] =>
  parts.flatMap((wire, part) => {
    const { text, thought } = objectOf(wire);
    return typeof text === "string" && thought !== true ? [{ part, text }] : [];
  });

const isCall = ({ type }: Part): boolean => type === "tool_call";

/** True if a part belongs to the answer itself; thoughts do not. */
const isAnswerContent = (part: Part): boolean =>
  part.type !== "reasoning" && !(part.type === "text" && part.text === "");

function firstCandidate(body: WireObject): WireObject {
  const candidates = Array.isArray(body["candidates"]) ? body["candidates"] : [];
  const first: unknown = candidates.find((one) => isObject(one) && (one["index"] ?? 0) === 0);
  return isObject(first) ? first : {};
}

/**
 * Returns the part that makes call ids unique in a conversation (T21): the answer's unique id, or a random one if the upstream sends none.
 */
export function callIdScope(responseId: string): string {
  return responseId === "" ? crypto.randomUUID() : responseId.replace(/[^\w-]/g, "_");
}

/** A blocked prompt has a reason and no candidates. */
export function blockOf(body: WireObject): Pick<WireStop, "blocked" | "blockMessage"> {
  const { blockReason, blockReasonMessage } = objectOf(body["promptFeedback"]);
  return { blocked: nonEmpty(blockReason), blockMessage: nonEmpty(blockReasonMessage) };
}

/** Unix seconds; some deployments send `createTime`. 0 if absent. */
export function createdAt(body: WireObject): number {
  const time = typeof body["createTime"] === "string" ? Date.parse(body["createTime"]) : NaN;
  return Number.isNaN(time) ? 0 : Math.floor(time / 1000);
}

const reasonByWire: Readonly<Record<string, Finish["reason"]>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  // The length limit of one answer; it could be continued.
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

/** The finish and block reasons of an answer, as received. */
export interface WireStop {
  readonly reason: unknown;
  readonly message?: unknown;
  /** Why the prompt was blocked. */
  readonly blocked?: string | undefined;
  readonly blockMessage?: string | undefined;
}

/** The kinds of content that an answer has. */
export interface ContentKinds {
  readonly calls: boolean;
  /** True if there is a text, picture or call; thoughts do not count. */
  readonly hasContent: boolean;
}

/**
 * Decodes the finish reason. Calls end with STOP here, so their presence decides (CONV-717). A block reason alone means a blocked prompt.
 * Without any reason the answer failed. So did an empty one with OTHER, LANGUAGE, NO_IMAGE or the like: a model with nothing to say ends
 * with STOP.
 */
export function decodeFinish(
  { reason: raw, message, blocked, blockMessage }: WireStop,
  { calls: hasCalls, hasContent }: ContentKinds,
): Finish {
  const explained = (text: unknown) => (nonEmpty(text) ? { explanation: text as string } : {});
  if (typeof raw !== "string" && blocked !== undefined)
    return { reason: "content_filter", raw: blocked, ...explained(blockMessage) };
  if (typeof raw !== "string") return { reason: hasCalls ? "tool_calls" : "error" };
  const reason = lookUp(reasonByWire, raw) ?? (hasContent ? "stop" : "error");
  return { reason: reasonWithCalls(reason, hasCalls), raw, ...explained(message) };
}

const wireByReason: Readonly<Record<Finish["reason"], string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  content_filter: "SAFETY",
  error: "OTHER",
};

/** Words that have no canonical reason of their own. */
const plain = new Set(["OTHER", "LANGUAGE"]);

/** Encodes `finishReason` and its message. The vendor's word is kept if it belongs to this protocol. */
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
  if (response.protocol !== "generate_content") signFirstCall(parts, skipSignatureInAnswers);
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

/** A text with its citations. The encoded part may begin with a paragraph break. */
const citedIn = ({ text, citations = [] }: TextPart, said: TextPart): CitedText => ({
  text,
  citations,
  offset: Buffer.byteLength(said.text) - Buffer.byteLength(text),
});

/** Returns the upstream's id if it speaks this protocol, otherwise the gateway's. */
export const answerId = (upstreamId: string, context: AnswerContext): string =>
  upstreamId === "" ? context.id : upstreamId;

/** Encodes a part of an answer. Thoughts of any vendor are shown; only signatures of this protocol are. */
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
      const signature = signatureValue(part.signature);
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

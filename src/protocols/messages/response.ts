/** Decodes and encodes whole answers of the messages protocol. CONV-703, CONV-707, CONV-711, CONV-715, CONV-818. */
import type { WireObject } from "../../base/json.ts";
import type { Citation, JsonObject, Part, ReasoningPart } from "../canonical/request.ts";
import { reasonWithCalls, type CanonicalResponse, type Finish } from "../canonical/response.ts";
import { callId } from "../call-id.ts";
import type { AnswerContext } from "../codec.ts";
import { member, nonEmpty, objectOf, objects, lookUp } from "../read.ts";
import { isBlank } from "../tidy.ts";
import { argumentsObject, argumentsText } from "../tool-arguments.ts";
import { decodeCitations, encodeCitation } from "./citations.ts";
import { decodeThinking } from "./thinking.ts";
import { ownSignature, unsignedMark } from "./unsigned.ts";
import { decodeUsage, encodeUsage } from "./usage.ts";

/** Decodes an upstream's answer. Results of the vendor's server tools have no canonical form and are left out. */
export function decodeResponse(body: JsonObject): CanonicalResponse {
  const content: Part[] = [];
  const id = nonEmpty(body["id"]) ?? "";
  for (const [index, block] of objects(body["content"]).entries()) {
    const part = decodeBlock(block, id, index);
    if (part) content.push(part);
  }
  const usage = decodeUsage(body["usage"], body);
  return {
    protocol: "messages",
    id,
    createdAt: 0,
    content,
    finish: decodeFinish(
      {
        reason: body["stop_reason"],
        sequence: body["stop_sequence"],
        details: body["stop_details"],
      },
      content.some(isToolCall),
    ),
    ...(usage ? { usage } : {}),
  };
}

const isToolCall = (part: Part): boolean => part.type === "tool_call";

function decodeBlock(block: WireObject, answerId: string, index: number): Part | undefined {
  const { type, text, input } = block;
  switch (type) {
    case "text":
      return citedText(text, decodeCitations(block["citations"]));
    case "tool_use": {
      const json = argumentsText(input);
      return { type: "tool_call", ...nameOfCall(block, answerId, index), arguments: json };
    }
    case "thinking":
    case "redacted_thinking":
      return decodeThinking(block);
    default:
      return undefined;
  }
}

const citedText = (text: unknown, citations: readonly Citation[]): Part => ({
  type: "text",
  text: typeof text === "string" ? text : "",
  ...(citations.length > 0 ? { citations } : {}),
});

/** Returns a tool call's id and name; made up or empty if the vendor omits them. */
export const nameOfCall = ({ id, name }: WireObject, answerId: string, index: number) => ({
  id: nonEmpty(id) ?? callId(answerId, index),
  name: nonEmpty(name) ?? "",
});

const reasonByWire: Readonly<Record<string, Finish["reason"]>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

/** The stop members of an answer, as received. */
export interface WireStop {
  readonly reason: unknown;
  readonly sequence: unknown;
  /** `stop_details`: the subject of a refusal. */
  readonly details: unknown;
}

/** Decodes the stop reason. The presence of calls decides between a plain or unknown reason and `tool_calls`. */
export function decodeFinish(stop: WireStop | undefined, hasToolCalls: boolean): Finish {
  const { reason, sequence, details } = stop ?? {};
  if (typeof reason !== "string") return { reason: reasonWithCalls("stop", hasToolCalls) };
  const canonicalReason = lookUp(reasonByWire, reason) ?? "stop";
  const explanation = nonEmpty(objectOf(details)["explanation"]);
  return {
    reason: reasonWithCalls(canonicalReason, hasToolCalls),
    raw: reason,
    ...(typeof sequence === "string" ? { stopSequence: sequence } : {}),
    ...(explanation === undefined ? {} : { explanation }),
  };
}

const wireByReason: Readonly<Record<Finish["reason"], string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
  error: "end_turn",
};

/** Encodes `stop_reason` and its members. The vendor's word is kept if it belongs to this protocol. */
export function encodeFinish(finish: Finish): JsonObject {
  const { reason, raw, stopSequence, explanation } = finish;
  const isOwnWord = raw !== undefined && lookUp(reasonByWire, raw) === reason;
  // With calls the reason stays `tool_use`, even if a stop sequence matched.
  const isStopped = reason === "stop" && stopSequence !== undefined;
  const ownWord = isStopped ? "stop_sequence" : wireByReason[reason];
  const stop = { stop_reason: isOwnWord ? raw : ownWord, stop_sequence: stopSequence ?? null };
  if (explanation === undefined || reason !== "content_filter") return stop;
  return { ...stop, stop_details: { type: "refusal", category: null, explanation } };
}

export function encodeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject {
  const content: JsonObject[] = [];
  const isOwn = response.protocol === "messages";
  for (const part of response.content) {
    // As in streams: texts of other vendors with only white space get no block.
    const block = isOwn || !isBlank(part) ? encodeBlock(part) : undefined;
    if (block) content.push(block);
  }
  return {
    id: answerId(isOwn ? response.id : "", context),
    type: "message",
    role: "assistant",
    model: context.model,
    content,
    ...encodeFinish(response.finish),
    // Without reported usage the member is absent: zeros would be billed as reported (T48, T61).
    ...(response.usage ? { usage: encodeUsage(response.usage, response.protocol) } : {}),
  };
}

/** Returns the upstream's id if it speaks this protocol, otherwise the gateway's with the prefix that clients know. */
export function answerId(upstreamId: string, context: AnswerContext): string {
  return upstreamId === "" ? `msg_${context.id}` : upstreamId;
}

/** Encodes a part of an answer as a block; undefined for media, which has none, and for empty text. */
function encodeBlock(part: Part): JsonObject | undefined {
  switch (part.type) {
    case "text":
    case "refusal": {
      if (part.text === "") return undefined;
      const citations = part.type === "text" ? part.citations?.map(encodeCitation) : undefined;
      return { type: "text", text: part.text, ...member("citations", citations) };
    }
    case "tool_call": {
      const input = argumentsObject(part.arguments);
      return { type: "tool_use", id: part.id, name: part.name, input };
    }
    case "reasoning":
      return encodeThinking(part);
    default:
      return undefined;
  }
}

/** Thinking of any vendor is shown; a signature of another protocol is replaced by the gateway's mark. */
function encodeThinking({ text, signature }: ReasoningPart): JsonObject | undefined {
  const own = ownSignature(signature);
  if (own?.redacted === true) return { type: "redacted_thinking", data: own.value };
  if (text === "" && own === undefined) return undefined;
  return { type: "thinking", thinking: text, signature: own?.value ?? unsignedMark };
}

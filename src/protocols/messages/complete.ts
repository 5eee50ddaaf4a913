/**
 * Adds to direct answers the members that typed clients require and some vendors leave out. llama.cpp begins calls without input and thinking
 * without a signature, and some gateways messages without content. rig, Koog and other clients in Rust and Kotlin fail at that, and so do
 * Anthropic's SDKs. TXT-10.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { isSet, list, lookUp, nonEmpty, objectOf, objects, parseObject } from "../read.ts";
import { nameOfCall } from "./response.ts";

type Defaults = Readonly<Record<string, () => Json>>;

const requiredByType: Readonly<Record<string, Defaults>> = {
  text: { text: () => "" },
  thinking: { thinking: () => "", signature: () => "" },
  tool_use: { input: () => ({}) },
  server_tool_use: { input: () => ({}) },
};

const requiredOfMessage: Defaults = {
  type: () => "message",
  role: () => "assistant",
  content: () => [],
  stop_reason: () => null,
  stop_sequence: () => null,
};

const requiredOfEnd: Defaults = { stop_sequence: () => null };

/** Returns the members that a value lacks. */
function missing(value: WireObject, required: Defaults): JsonObject {
  const added: JsonObject = {};
  for (const [name, make] of Object.entries(required)) {
    if (isSet(value[name])) continue;
    const empty = make();
    if (value[name] === undefined || empty !== null) added[name] = empty;
  }
  return added;
}

/** Returns the completed block; the same one if it lacks nothing. */
export function completeBlock(block: JsonObject, answerId: string, index: number): JsonObject {
  const { type } = block;
  const added = missing(block, lookUp(requiredByType, nonEmpty(type) ?? "") ?? {});
  const isCall = type === "tool_use";
  const isNamed = !isCall || (nonEmpty(block["id"]) && nonEmpty(block["name"])) !== undefined;
  if (isNamed && Object.keys(added).length === 0) return block;
  return { ...block, ...added, ...(isNamed ? {} : nameOfCall(block, answerId, index)) };
}

/** Returns the completed message of an answer, or of the start of its stream. `ownId` counts if the vendor sent none. */
export function completeMessage(message: JsonObject, ownId: string): JsonObject & { id: string } {
  const id = nonEmpty(message["id"]) ?? ownId;
  const content = list(message["content"]) as readonly Json[];
  const blocks = content.map((block, at) =>
    isObject(block) ? completeBlock(block, id, at) : block,
  );
  return { ...message, ...missing(message, requiredOfMessage), id, content: blocks };
}

/** True for a call that the caller has to make. A call from within Anthropic's code execution may be over: the answer goes on after it. */
export const isOwnCall = ({ type, caller }: WireObject): boolean =>
  type === "tool_use" && (objectOf(caller)["type"] ?? "direct") === "direct";

/**
 * Returns the stop reason for the caller. Local servers say `end_turn` of calls too, and loops of the vendor's documentation then
 * ignore the calls (T11).
 */
export function ownReason(reason: Json | undefined, isCalling: boolean): Json {
  if (isSet(reason) && reason !== "end_turn") return reason!;
  return isCalling ? "tool_use" : "end_turn";
}

/** Returns the completed whole answer. */
export function completeAnswer(answer: JsonObject): JsonObject {
  const whole = completeMessage(answer, `msg_${crypto.randomUUID()}`);
  const isCalling = objects(whole["content"]).some(isOwnCall);
  return { ...whole, stop_reason: ownReason(whole["stop_reason"], isCalling) };
}

/** The facts known of an answer at its end. */
interface Ending {
  /** The stop members for the caller. */
  readonly stop: JsonObject;
  readonly outputTokens: number;
  /** Replaces usage that cannot be true (T51). */
  readonly trueUsage: JsonObject | undefined;
}

/**
 * Completes a `message_delta` from the stop reason on. Anthropic's SDKs and the AI SDK read the stop reason and the count of output from each:
 * one with only late usage would take the stop reason back.
 */
export function completeEnd(frame: SseEvent, { stop, outputTokens, trueUsage }: Ending): SseEvent {
  const data = frame.event === "message_delta" ? parseObject(frame.data) : undefined;
  if (data === undefined) return frame;
  const told = exactTwinOf(data as JsonObject);
  const delta = objectOf(told["delta"]) as JsonObject;
  const usage = objectOf(told["usage"]) as JsonObject;
  const isCounted = isSet(usage["output_tokens"]) && trueUsage === undefined;
  const reason = delta["stop_reason"];
  const isOwn = isSet(reason) && (reason !== "end_turn" || reason === stop["stop_reason"]);
  if (isCounted && isOwn && delta["stop_sequence"] !== undefined) return frame;
  const whole = {
    ...told,
    delta: { ...delta, ...(isOwn ? missing(delta, requiredOfEnd) : stop) },
    usage: isCounted ? usage : { ...usage, ...(trueUsage ?? { output_tokens: outputTokens }) },
  };
  return { event: frame.event, data: JSON.stringify(whole) };
}

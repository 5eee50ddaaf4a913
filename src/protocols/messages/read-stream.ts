/**
 * Reads the frames of a messages stream, for conversion and for the metering of direct routes. It accepts the variations of many vendors:
 * blocks without a start, whole inputs in the start, repeated starts. Traps T2, T16, T44, T49.
 */
import { exactText } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { noUsage, reportedCount, type Usage } from "../../base/usage.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { list, member, nonEmpty, objectOf } from "../read.ts";
import { nothing, StreamFrames, unread, type AnyEvent } from "../stream-frames.ts";
import { withUses } from "../tool-uses.ts";
import { decodeError } from "./errors.ts";
import { decodeUsage, mergeUsage, hasInputFields, reportsInput } from "./usage.ts";
import { varying } from "./varying.ts";

type DeltaKind = "text" | "reasoning" | "tool_call" | "signature" | "citation" | "other";

/** `type` is the event's name, if known. */
export type MessagesEvent =
  | AnyEvent
  | {
      readonly type: "message_start";
      readonly data: WireObject;
      readonly message: WireObject;
      /** The blocks of an answer that was ready before the stream began: its start has them whole. */
      readonly blocks: readonly WireObject[];
      readonly reportsUsage: boolean;
    }
  | { readonly type: "content_block_start"; readonly index: unknown; readonly block: WireObject }
  | MessagesDelta
  | { readonly type: "content_block_stop"; readonly index: unknown }
  | { readonly type: "message_delta"; readonly isLast: boolean; readonly reportsUsage: boolean }
  | { readonly type: "message_stop" }
  | { readonly type: "other"; readonly name: string };

export interface MessagesDelta {
  readonly type: "content_block_delta";
  readonly index: unknown;
  readonly kind: DeltaKind;
  readonly text: string;
  /** Citation deltas only. */
  readonly citation?: unknown;
}

/** Reads one stream. It returns nothing after the last event or an error. */
export class MessagesReader {
  /** The stop reason, once known. */
  stop:
    | { readonly reason: string; readonly sequence: unknown; readonly details: unknown }
    | undefined;
  hasToolCall = false;
  /** True while only an empty start and pings have come. */
  isOpening = true;
  /** The counts so far, as received. */
  wireUsage: WireObject = {};
  readonly #frames = new StreamFrames(varying);
  #phase: "waiting" | "running" | "over" | "broken" = "waiting";
  #messageId: unknown;
  #hasContent = false;
  #reportsUsage = false;
  /** True if the start had only placeholder zeros and no later frame has reported input. */
  #awaitsInput = false;
  /** True once output was reported for the answer, not only at its start, where vendors report 1. */
  #reportsOutput = false;
  /** Number of searches seen so far. */
  #searches = 0;

  /**
   * The usage so far; once the answer is over, only usage that covers all of it. Output without any input is incomplete; all zeros are
   * valid (T61). Vendors report searches at the end: until then the searches seen count.
   */
  get usage(): Usage | undefined {
    const isWhole = this.stop !== undefined || this.#phase === "over";
    if (isWhole && !this.#reportsOutput) return undefined;
    const reported = this.#reportsUsage ? decodeUsage(this.wireUsage, this.ending) : undefined;
    const usage = this.#awaitsInput && reported && reported.outputTokens > 0 ? undefined : reported;
    if (isWhole || this.#searches <= (usage?.webSearches ?? 0)) return usage;
    return withUses(usage ?? noUsage, { webSearches: this.#searches });
  }

  /** The stop members, as a message and its end have them. */
  get ending(): JsonObject {
    const { reason, sequence, details } = this.stop ?? {};
    return {
      stop_reason: reason ?? (this.hasToolCall ? "tool_use" : "end_turn"),
      stop_sequence: (sequence as Json | undefined) ?? null,
      ...member("stop_details", details as Json | undefined),
    };
  }

  /** True once the answer has begun. */
  get hasBegun(): boolean {
    return this.#phase !== "waiting";
  }

  read(event: SseEvent): MessagesEvent {
    if (this.#phase === "over" || this.#phase === "broken") return nothing;
    const data = this.#frames.read(event);
    const seen = typeof data === "string" ? unread[data] : this.#take(data, event.event);
    if (seen.type === "message_stop") this.#phase = "over";
    else if (seen.type === "error") this.#phase = "broken";
    this.isOpening &&= this.stop === undefined && saysNothing(seen);
    return seen;
  }

  #take(data: WireObject, eventName: string | undefined): MessagesEvent {
    const name = typeof data["type"] === "string" ? data["type"] : (eventName ?? "");
    const { index } = data;
    if (name === "" && data["error"]) return { type: "error", error: decodeError(502, data) };
    switch (name) {
      case "message_start":
        return this.#start(data, objectOf(data["message"]));
      case "content_block_start": {
        const block = objectOf(data["content_block"]);
        this.#takeBlock(block);
        return { type: name, index, block };
      }
      case "content_block_delta":
        this.#hasContent = true;
        return readDelta(index, objectOf(data["delta"]));
      case "content_block_stop":
        return { type: name, index };
      case "message_delta": {
        const isLast = this.#takeStop(objectOf(data["delta"]));
        return { type: name, isLast, reportsUsage: this.#takeUsage(data["usage"]) };
      }
      case "message_stop":
        return { type: name };
      case "error":
        return { type: name, error: decodeError(502, data) };
      default:
        return { type: "other", name };
    }
  }

  #start(data: WireObject, message: WireObject): MessagesEvent {
    const usage = objectOf(message["usage"]);
    if (this.#phase !== "waiting") return this.#startAgain(message["id"], usage);
    this.#phase = "running";
    this.#messageId = message["id"];
    this.#takeStop(message);
    this.#takeUsage(usage);
    // The start reports the whole usage if the answer was ready before the stream began.
    this.#reportsOutput = this.stop !== undefined;
    // All zeros are a placeholder of vendors that count at the end (T44).
    this.#reportsUsage = reportsInput(usage);
    this.#awaitsInput = !this.#reportsUsage;
    const blocks = list(message["content"]).map(objectOf);
    for (const block of blocks) this.#takeBlock(block);
    return { type: "message_start", data, message, blocks, reportsUsage: this.#reportsUsage };
  }

  /**
   * A second start comes from a proxy that retries. Before any content, or with the same id, only its usage is merged. Otherwise it is an
   * error: the caller already has a part of the answer, perhaps half a tool call.
   */
  #startAgain(id: unknown, usage: WireObject): AnyEvent {
    if (this.#hasContent && id !== this.#messageId) {
      const message = "The upstream began its answer anew in the midst of it.";
      return { type: "error", error: { message } };
    }
    this.wireUsage = mergeUsage(this.wireUsage, usage);
    if (reportsInput(usage)) {
      this.#reportsUsage = true;
      this.#awaitsInput = false;
    }
    return nothing;
  }

  #takeBlock(block: WireObject): void {
    this.#hasContent = true;
    this.hasToolCall ||= block["type"] === "tool_use";
    // A failed search has no list and costs nothing.
    if (block["type"] === "web_search_tool_result" && Array.isArray(block["content"]))
      this.#searches += 1;
  }

  #takeUsage(usage: unknown): boolean {
    if (!isObject(usage)) return false;
    this.wireUsage = mergeUsage(this.wireUsage, usage);
    this.#reportsUsage = true;
    this.#reportsOutput ||= reportedCount(usage["output_tokens"]) !== undefined;
    this.#awaitsInput &&= !hasInputFields(usage);
    return true;
  }

  #takeStop({
    stop_reason: reason,
    stop_sequence: sequence,
    stop_details: details,
  }: WireObject): boolean {
    if (typeof reason !== "string") return false;
    this.stop = { reason, sequence, details };
    return true;
  }
}

/** True for events that tell nothing of the answer. */
function saysNothing(seen: MessagesEvent): boolean {
  switch (seen.type) {
    case "message_start":
      return seen.blocks.length === 0;
    case "other":
      return seen.name === "ping";
    case "nothing":
    case "marker":
    case "error":
      return true;
    default:
      return false;
  }
}

/** Kinds of deltas by wire type, with the member that holds the text. */
const deltas = new Map<unknown, readonly [DeltaKind, member: string]>([
  ["text_delta", ["text", "text"]],
  ["thinking_delta", ["reasoning", "thinking"]],
  ["input_json_delta", ["tool_call", "partial_json"]],
  ["signature_delta", ["signature", "signature"]],
]);
const otherDelta = ["other", "content"] as const;

function readDelta(index: unknown, wire: WireObject): MessagesDelta {
  if (wire["type"] === "citations_delta") {
    const { citation } = wire;
    return { type: "content_block_delta", index, kind: "citation", text: "", citation };
  }
  const [kind, member] = deltas.get(wire["type"]) ?? otherDelta;
  const text = nonEmpty(wire[member]) ?? "";
  return { type: "content_block_delta", index, kind, text };
}

/** Returns the whole input in a tool call's start (T2); undefined if it arrives in pieces. */
export function wholeInput({ input }: WireObject): string | undefined {
  if (typeof input === "string") return nonEmpty(input);
  return isObject(input) && Object.keys(input).length > 0 ? exactText(input) : undefined;
}

/** True for calls of the caller's tools, of the vendor's own and of its servers. */
export const isCall = ({ type }: WireObject): boolean =>
  typeof type === "string" && /(?:^|_)tool_use$/.test(type);

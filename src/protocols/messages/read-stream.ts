/**
 * What the frames of a messages stream say, whatever their vendor's habits: the one reader, for conversion and for a direct
 * route's metering. Vendors of this protocol are many: blocks without a start, whole inputs in the start, starts said twice
 * are all read. Traps T2, T16, T44, T49.
 */
import { exactText } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { noUsage, reportedCount, type Usage } from "../../base/usage.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { list, member, nonEmpty, objectOf } from "../read.ts";
import { nothing, StreamFrames, unread, type AnyEvent } from "../stream-frames.ts";
import { withSearches } from "../web-searches.ts";
import { decodeError } from "./errors.ts";
import { decodeUsage, mergeUsage, namesInput, tellsInput } from "./usage.ts";
import { varying } from "./varying.ts";

type DeltaKind = "text" | "reasoning" | "tool_call" | "signature" | "citation" | "other";

/** `type` is the event's name, where it is one that we know. */
export type MessagesEvent =
  | AnyEvent
  | {
      readonly type: "message_start";
      readonly data: WireObject;
      readonly message: WireObject;
      /** Of an answer that was ready before the stream began: it stands whole in its start. */
      readonly blocks: readonly WireObject[];
      readonly tellsUsage: boolean;
    }
  | { readonly type: "content_block_start"; readonly index: unknown; readonly block: WireObject }
  | MessagesDelta
  | { readonly type: "content_block_stop"; readonly index: unknown }
  | { readonly type: "message_delta"; readonly isLast: boolean; readonly tellsUsage: boolean }
  | { readonly type: "message_stop" }
  | { readonly type: "other"; readonly name: string };

export interface MessagesDelta {
  readonly type: "content_block_delta";
  readonly index: unknown;
  readonly kind: DeltaKind;
  readonly text: string;
  /** Of a citation. */
  readonly citation?: unknown;
}

/** The reader of one stream. After its last event and after an error there is nothing. */
export class MessagesReader {
  /** Why the answer stopped, as soon as that is known. */
  stop:
    | { readonly reason: string; readonly sequence: unknown; readonly details: unknown }
    | undefined;
  hasToolCall = false;
  /** The counts reported so far, as they came. */
  wireUsage: WireObject = {};
  readonly #frames = new StreamFrames(varying);
  #phase: "waiting" | "running" | "over" | "broken" = "waiting";
  #messageId: unknown;
  #hasContent = false;
  #tellsUsage = false;
  /** Whether the start told a placeholder, and nothing after it the input. */
  #awaitsInput = false;
  /** Whether the output was told of the answer, and not only of its start, where vendors say 1. */
  #tellsOutput = false;
  /** Searches that were seen so far. */
  #searches = 0;

  /**
   * So far, and of an answer that is over what was told of all of it. Output without any input is not told whole; all zeros
   * are (T61). Searches are told at the end: before it those count that were seen.
   */
  get usage(): Usage | undefined {
    const isWhole = this.stop !== undefined || this.#phase === "over";
    if (isWhole && !this.#tellsOutput) return undefined;
    const told = this.#tellsUsage ? decodeUsage(this.wireUsage) : undefined;
    const usage = this.#awaitsInput && told && told.outputTokens > 0 ? undefined : told;
    if (isWhole || this.#searches <= (usage?.webSearches ?? 0)) return usage;
    return withSearches(usage ?? noUsage, this.#searches);
  }

  /** What the answer says of why it stopped, as a message and its end have it. */
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
    return seen;
  }

  #take(data: WireObject, eventName: string | undefined): MessagesEvent {
    const name = typeof data["type"] === "string" ? data["type"] : (eventName ?? "");
    const { index } = data;
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
        return { type: name, isLast, tellsUsage: this.#takeUsage(data["usage"]) };
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
    // An answer that was ready before the stream began is told whole.
    this.#tellsOutput = this.stop !== undefined;
    // All zeros is a placeholder of vendors that count at the end (T44).
    this.#tellsUsage = tellsInput(usage);
    this.#awaitsInput = !this.#tellsUsage;
    const blocks = list(message["content"]).map(objectOf);
    for (const block of blocks) this.#takeBlock(block);
    return { type: "message_start", data, message, blocks, tellsUsage: this.#tellsUsage };
  }

  /**
   * A proxy on the way that retries shows as a second start. Said twice, it counts once. In the midst of an answer it
   * cannot be mended: what the caller already has, perhaps half a tool call, cannot be taken back.
   */
  #startAgain(id: unknown, usage: WireObject): AnyEvent {
    if (this.#hasContent && id !== this.#messageId) {
      const message = "The upstream began its answer anew in the midst of it.";
      return { type: "error", error: { message } };
    }
    this.wireUsage = mergeUsage(this.wireUsage, usage);
    return nothing;
  }

  #takeBlock(block: WireObject): void {
    this.#hasContent = true;
    this.hasToolCall ||= block["type"] === "tool_use";
    // One that failed has no list, and costs nothing.
    if (block["type"] === "web_search_tool_result" && Array.isArray(block["content"]))
      this.#searches += 1;
  }

  #takeUsage(usage: unknown): boolean {
    if (!isObject(usage)) return false;
    this.wireUsage = mergeUsage(this.wireUsage, usage);
    this.#tellsUsage = true;
    this.#tellsOutput ||= reportedCount(usage["output_tokens"]) !== undefined;
    this.#awaitsInput &&= !namesInput(usage);
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

/** Kinds of deltas by their wire type, and the member that holds the text. */
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

/** The whole input that a tool call's start tells (T2); undefined where it comes in pieces. */
export function wholeInput({ input }: WireObject): string | undefined {
  return isObject(input) && Object.keys(input).length > 0 ? exactText(input) : undefined;
}

/**
 * Watches a messages stream on the direct route: nearly all frames are deltas, which pass unchanged. Requirements: TXT, STREAM-04, T16,
 * T44, T49.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import type { GatewayError } from "../../base/errors.ts";
import type { WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { tokenCount, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { TapOptions } from "../codec.ts";
import { objectOf } from "../read.ts";
import { DirectTap, none } from "../stream-tap.ts";
import { completeBlock, completeEnd, completeMessage, isOwnCall, ownReason } from "./complete.ts";
import { encodeError } from "./errors.ts";
import { frame } from "./frame.ts";
import { isCall, MessagesReader, wholeInput } from "./read-stream.ts";
import { encodeUsage, misreports } from "./usage.ts";

export class MessagesTap extends DirectTap {
  readonly #reader = new MessagesReader();
  readonly #options: TapOptions;
  #answerId: string;
  /** The open blocks by index: true for a call. */
  readonly #openBlocks = new Map<unknown, boolean>();
  #hasOwnCall = false;

  constructor(options: TapOptions) {
    super();
    this.#options = options;
    this.#answerId = `msg_${options.id}`;
  }

  get usage(): Usage | undefined {
    return this.#reader.usage;
  }

  get isOpening(): boolean {
    return this.#reader.isOpening;
  }

  protected take(event: SseEvent): readonly SseEvent[] {
    const read = this.#reader.read(event);
    const { data } = event;
    switch (read.type) {
      case "message_start":
        for (const block of read.blocks) this.#addBlock(block);
        return [this.#start(read.data, read.message, read.reportsUsage)];
      case "content_block_start":
        this.#openBlocks.set(read.index, isCall(read.block));
        this.#addBlock(read.block);
        return [this.#blockStart(read.index, read.block, data)];
      case "content_block_delta":
        if (read.kind !== "signature") this.log.add(read.text);
        break;
      case "content_block_stop":
        this.#closeBlock(read.index);
        break;
      case "message_delta":
        // Frames after the stop reason, such as late usage, are held back too.
        if (!read.isLast && this.held.length === 0) break;
        return this.#hold({ event: read.type, data }, this.#isWhole());
      case "message_stop":
        return this.#hold({ event: read.type, data }, true);
      case "error":
        return this.breakOff(read.error);
      case "nothing":
      case "marker":
        return none;
      case "other":
        return [{ event: read.name, data }];
    }
    return [{ event: read.type, data }];
  }

  /** Returns the start with the canonical model, and with the estimate if it reports no input. */
  #start(data: WireObject, message: WireObject, reportsUsage: boolean): SseEvent {
    const reported = objectOf(message["usage"]);
    const counted = { ...reported, output_tokens: tokenCount(reported["output_tokens"]) };
    const isTrue = reportsUsage && !misreports(reported);
    const usage = isTrue ? counted : { ...counted, input_tokens: this.#options.inputEstimate };
    const whole = completeMessage(message as JsonObject, this.#answerId);
    this.#answerId = whole.id;
    const changed = { ...data, message: { ...whole, model: this.#options.model, usage } };
    return { event: "message_start", data: JSON.stringify(changed) };
  }

  #blockStart(index: unknown, block: WireObject, data: string): SseEvent {
    const told = exactTwinOf(block as JsonObject);
    const place = typeof index === "number" ? index : this.#openBlocks.size;
    const whole = completeBlock(told, this.#answerId, place);
    if (whole === told) return { event: "content_block_start", data };
    return frame("content_block_start", { index, content_block: whole });
  }

  #addBlock(block: WireObject): void {
    this.#hasOwnCall ||= isOwnCall(block);
    // Some vendors send the whole block in its start.
    for (const text of [block["text"], block["thinking"], wholeInput(block)]) this.log.add(text);
  }

  #closeBlock(index: unknown): void {
    this.#openBlocks.delete(index);
    this.ended ||= this.held.length > 0 && this.#isWhole();
  }

  /** False while a call is open, even after the stop reason: a stream that is cut now may have cut its arguments (T16). */
  #isWhole(): boolean {
    return ![...this.#openBlocks.values()].includes(true);
  }

  /** An upstream that closes its stream after the stop reason has completed the answer. */
  end(): readonly SseEvent[] {
    this.ended ||= this.error === undefined && this.#reader.stop !== undefined;
    return none;
  }

  #hold(frame: SseEvent, isWhole: boolean): readonly SseEvent[] {
    this.ended = isWhole;
    this.held.push(frame);
    return none;
  }

  /** Closes open blocks, then returns the frames held back and the missing ones of the ending. */
  protected ending(billed: Usage | undefined): readonly SseEvent[] {
    const frames = [...this.#openBlocks.keys()].map((index) =>
      frame("content_block_stop", { index }),
    );
    const { ending, wireUsage, usage } = this.#reader;
    const stop = { ...ending, stop_reason: ownReason(ending["stop_reason"], this.#hasOwnCall) };
    // If the upstream reported no usage, the caller gets the billed output count (T44).
    const outputTokens =
      usage === undefined ? (billed?.outputTokens ?? 0) : tokenCount(wireUsage["output_tokens"]);
    const isFalse = usage === undefined && billed !== undefined && misreports(wireUsage);
    const trueUsage = isFalse ? encodeUsage(billed, "messages") : undefined;
    if (!this.held.some(({ event }) => event === "message_delta")) {
      const finalUsage = { ...wireUsage, output_tokens: outputTokens, ...trueUsage };
      frames.push(frame("message_delta", { delta: stop, usage: finalUsage }));
    }
    const known = { stop, outputTokens, trueUsage };
    frames.push(...this.held.map((frame) => completeEnd(frame, known)));
    if (!this.held.some(({ event }) => event === "message_stop")) {
      frames.push(frame("message_stop", {}));
    }
    return frames;
  }

  protected failure(error: GatewayError): readonly SseEvent[] {
    const { error: body } = encodeError(error, "");
    return [frame("error", { error: body, request_id: null })];
  }
}

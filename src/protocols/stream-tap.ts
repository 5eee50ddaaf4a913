/**
 * Shared base of the taps of direct streams. It has the facts seen so far, holds frames back until the charge is committed, and sends one
 * ending. Requirements: TXT, T16, T37.
 */
import type { GatewayError } from "../base/errors.ts";
import type { SseEvent } from "../base/sse.ts";
import type { Usage } from "../base/usage.ts";
import type { StreamSeen, StreamTap, WireError } from "./codec.ts";
import { TextLog, type TextRoom } from "./text-log.ts";

/** No frames. */
export const none: readonly SseEvent[] = [];

/** A tap of one stream. Each protocol adds how its frames are forwarded, ended and broken off. */
export abstract class DirectTap implements StreamTap, StreamSeen {
  ended = false;
  error: WireError | undefined = undefined;
  pictures = 0;
  abstract readonly usage: Usage | undefined;
  abstract readonly isOpening: boolean;
  /** The output text so far. */
  protected readonly log = new TextLog();
  /** The held-back frames that end the answer. */
  protected held: SseEvent[] = [];
  #over = false;

  /** Takes a frame that arrived and returns the frames to send now. */
  protected abstract take(event: SseEvent): readonly SseEvent[];
  /** Returns the frames that end a complete stream; `failure` returns those of a broken one. `billed`: the usage that is charged. */
  protected abstract ending(billed: Usage | undefined): readonly SseEvent[];
  protected abstract failure(error: GatewayError): readonly SseEvent[];

  get seen(): StreamSeen {
    return this;
  }

  get text(): string {
    return this.log.read();
  }

  get characters(): number {
    return this.log.characters;
  }

  get isTextCut(): boolean {
    return this.log.isCut;
  }

  keepText(room: TextRoom): void {
    this.log.keep(room);
  }

  push(event: SseEvent): readonly SseEvent[] {
    return this.#over ? none : this.take(event);
  }

  /** A broken stream only gets a failure. */
  release(billed?: Usage): readonly SseEvent[] {
    return this.error ? none : this.#close(() => this.ending(billed));
  }

  fail(error: GatewayError): readonly SseEvent[] {
    return this.#close(() => this.failure(error));
  }

  /** The stream broke off, so the frames held back are no ending any more. */
  protected breakOff(error: WireError): readonly SseEvent[] {
    this.error = error;
    this.ended = false;
    this.held = [];
    return none;
  }

  #close(last: () => readonly SseEvent[]): readonly SseEvent[] {
    if (this.#over) return none;
    const frames = last();
    this.#over = true;
    return frames;
  }
}

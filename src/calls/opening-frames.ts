/**
 * Holds back the frames that open a stream and say nothing of its answer yet, such as `message_start`. Vendors send them at once, and
 * may fail right after: then another provider can still answer. docs/decisions.md "Opening frames".
 */
import type { ByteLease } from "../base/byte-budget.ts";
import { msSince } from "../base/elapsed.ts";
import { frameMin, ownEvent, type SseEvent } from "../base/sse.ts";

/**
 * How long frames may wait, in ms. Vendors report overloads within a few seconds. A model that thinks for longer opens its stream for the caller
 * before a keep-alive would, after 15 seconds of silence.
 */
const waitMs = 10_000;
/** How many characters may wait. The events that open a responses stream repeat instructions and tools of the request. */
const charactersMax = 524_288;

/** Fewer characters are not counted: a stream of any protocol opens with them. */
const countedMin = 16_384;

export class OpeningFrames {
  readonly #frames: SseEvent[] = [];
  readonly #call: ByteLease;
  readonly #due: () => void;
  /** The room of the frames, because a vendor decides how long they wait; undefined while they are few. */
  #lease: ByteLease | undefined;
  #characters = 0;
  /** How many of the frames are copies. */
  #owned = 0;
  #timer: NodeJS.Timeout | undefined;
  #sinceMs: number | undefined;
  /** True once frames have waited for long enough. */
  #isDue = false;

  /** `call`: a lease of the budget of bodies. `due`: called once frames have waited for long enough. */
  constructor(call: ByteLease, due: () => void) {
    this.#call = call;
    this.#due = due;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** How long frames have waited so far, in ms. */
  get waitedMs(): number {
    return this.#sinceMs === undefined ? 0 : msSince(this.#sinceMs);
  }

  add(frames: readonly SseEvent[]): void {
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#characters += Math.max(frameMin, frame.data.length + (frame.event?.length ?? 0));
    }
  }

  /** The frames wait from now on, unless they do already. Returns false if they have waited for long enough, or are too many. */
  wait(): boolean {
    if (this.#isDue || this.#characters > charactersMax || !this.#fits()) return false;
    this.#own();
    this.#sinceMs ??= performance.now();
    this.#timer ??= setTimeout(() => {
      this.#isDue = true;
      this.#due();
    }, waitMs);
    return true;
  }

  /** Copies the frames that wait: most streams open in the same read as their answer, and theirs do not. */
  #own(): void {
    for (; this.#owned < this.#frames.length; this.#owned += 1)
      this.#frames[this.#owned] = ownEvent(this.#frames[this.#owned]!);
  }

  /** Takes room for the frames; false if there is none. */
  #fits(): boolean {
    if (this.#characters < countedMin) return true;
    this.#lease ??= this.#call.sibling();
    return this.#lease.tryTake(this.#characters - this.#lease.bytes);
  }

  /** Returns all frames, which wait no longer. */
  end(): readonly SseEvent[] {
    clearTimeout(this.#timer);
    this.#lease?.release();
    return this.#frames;
  }
}

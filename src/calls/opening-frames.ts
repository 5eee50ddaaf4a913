/**
 * Holds back the frames that open a stream and say nothing of its answer yet, such as `message_start`. Vendors send them at once, and
 * may fail right after: then another provider can still answer. docs/decisions.md "Opening frames".
 */
import type { SseEvent } from "../base/sse.ts";

/**
 * How long frames may wait, in ms. Overloads are told within a few seconds. A model that thinks for longer opens its stream for the caller
 * before a keep-alive would, after 15 seconds of silence.
 */
const waitMs = 10_000;
/** How many characters may wait. The events that open a responses stream repeat instructions and tools of the request. */
const charactersMax = 524_288;

export class OpeningFrames {
  readonly #frames: SseEvent[] = [];
  readonly #due: () => void;
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;
  /** True once frames have waited for long enough, or are too many. */
  isDue = false;

  /** `due`: called once frames have waited for long enough. */
  constructor(due: () => void) {
    this.#due = due;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  add(frames: readonly SseEvent[]): void {
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#characters += frame.data.length;
    }
    if (this.#characters > charactersMax) this.isDue = true;
  }

  /** The frames wait from now on, unless they do already. */
  wait(): void {
    this.#timer ??= setTimeout(() => {
      this.isDue = true;
      this.#due();
    }, waitMs);
  }

  /** Returns all frames, which wait no longer. */
  end(): readonly SseEvent[] {
    clearTimeout(this.#timer);
    return this.#frames;
  }
}

/**
 * Turns for work that blocks the process for a while, such as parsing a large body: one at a time, in rounds of the event loop
 * of their own. After work that took longer than a moment comes a pause of the same length: without pauses, many large bodies
 * one after the other keep all other callers waiting.
 */

/** Work up to this delays others no more than a busy round does: the next round is for the next. */
const momentMs = 8;
/** A longer pause would only slow the large bodies down: in this time a small call gets through. */
const pauseMsMax = 1_000;

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #busy = false;

  /** Resolves when the caller may work, in the event-loop turn in which it then must do so. */
  take(): Promise<void> {
    if (this.#busy) return new Promise((resolve) => this.#waiting.push(() => this.#begin(resolve)));
    return new Promise((resolve) => this.#begin(resolve));
  }

  #begin(resolve: () => void): void {
    this.#busy = true;
    const begunMs = performance.now();
    resolve();
    // The work is over when the event loop goes on.
    setImmediate(() => {
      const workMs = performance.now() - begunMs;
      if (workMs <= momentMs) this.#next();
      else setTimeout(() => this.#next(), Math.min(workMs, pauseMsMax));
    });
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#busy = false;
    else next();
  }
}

/**
 * Turns for work that blocks the process for a while, such as parsing a large body: one at a time, and after each one a
 * pause as long as the work took. Without pauses, many large bodies one after the other keep all other callers waiting.
 */

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
      const pauseMs = Math.min(performance.now() - begunMs, pauseMsMax);
      setTimeout(() => this.#next(), pauseMs);
    });
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#busy = false;
    else next();
  }
}

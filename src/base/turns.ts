/**
 * Turns for work that blocks the process for a while, such as parsing a large body: one at a time, and no more than a moment of it in
 * a round of the event loop. After work that took longer than a moment comes a pause of the same length: without pauses, many large
 * bodies one after the other keep all other callers waiting.
 */

/** Work up to this delays others no more than a busy round does: what waits goes on in the next round. */
const momentMs = 8;
/** A longer pause would only slow the large bodies down: in this time a small call gets through. */
const pauseMsMax = 1_000;

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #busy = false;
  /** When the first work of this round began. */
  #roundMs = 0;

  /** Resolves when the caller may work, in the event-loop turn in which it then must do so. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#busy) this.#round();
    });
  }

  #round(): void {
    this.#roundMs = performance.now();
    this.#next();
  }

  #next(): void {
    const begunMs = performance.now();
    const next = this.#waiting.shift();
    this.#busy = next !== undefined;
    if (next === undefined) return;
    next();
    // The work is over when all that it resolved has run.
    queueMicrotask(() => process.nextTick(() => this.#over(begunMs)));
  }

  #over(begunMs: number): void {
    const nowMs = performance.now();
    const workMs = nowMs - begunMs;
    if (workMs > momentMs) setTimeout(() => this.#round(), Math.min(workMs, pauseMsMax));
    else if (nowMs - this.#roundMs > momentMs) setImmediate(() => this.#round());
    else this.#next();
  }
}

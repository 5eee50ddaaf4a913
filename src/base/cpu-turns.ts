/**
 * Turns for work that blocks the process, such as parsing a large body. One piece runs at a time, and only a moment of work in each round
 * of the event loop. After longer work comes a pause of the same length: without pauses, a series of large bodies would block all other
 * callers.
 */

/** Work up to this delays other work no more than a busy round does: waiting work goes on in the next round. */
const momentMs = 8;
/** In this time a small call gets through; a longer pause would only slow large bodies down. */
const pauseMsMax = 1_000;

export class CpuTurns {
  readonly #waiting: (() => void)[] = [];
  #busy = false;
  /** When the first work of this round began. */
  #roundMs = 0;

  /** Resolves when the caller may work; it must work in the same turn of the event loop. */
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
    // The work is over when everything that it resolved has run.
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

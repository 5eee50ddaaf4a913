/**
 * Calls that are not recorded yet. A call outlives its connection: one that is cut is charged and logged after that, and what it is
 * written to must not be closed before. Requirements: BILL-01, T65.
 */
import { idTime } from "../base/ids.ts";

/**
 * Emptied where it is taken back: what a set has outgrown keeps what was in it until all memory is looked through, and a call with all
 * that it holds must not grow old for it. That took a quarter more of the processor for each call.
 */
interface Ending {
  end: ((isLast: boolean) => void) | undefined;
}

export class CallsUnderWay {
  /** By their ids. */
  readonly #calls = new Set<string>();
  /** What ends them here, with an error. */
  readonly #endings = new Set<Ending>();
  #none: (() => void) | undefined;

  began(id: string): void {
    this.#calls.add(id);
  }

  /** One has been recorded. */
  ended(id: string): void {
    this.#calls.delete(id);
    if (this.#calls.size === 0) this.#none?.();
  }

  /** One is to be ended by `end` before its connection is cut. @returns what takes that back */
  onStop(end: (isLast: boolean) => void): () => void {
    const ending: Ending = { end };
    this.#endings.add(ending);
    return () => {
      this.#endings.delete(ending);
      ending.end = undefined;
    };
  }

  /** Connections will be cut: who reads a stream is told so in it; `isLast`: next, and whoever waits for an answer is told too. */
  end(isLast: boolean): void {
    for (const { end } of this.#endings) end?.(isLast);
  }

  /** Since when the oldest one runs, as in its id; the time now where there is none. */
  since(): string {
    let since = idTime(Date.now());
    for (const id of this.#calls) {
      const time = id.slice(id.indexOf("_") + 1).slice(0, since.length);
      if (time < since) since = time;
    }
    return since;
  }

  /** Waits until none is left, for `msMax` milliseconds at most. @returns how many are left */
  async over(msMax: number): Promise<number> {
    if (this.#calls.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, msMax);
      this.#none = resolve;
      await promise;
      clearTimeout(timer);
    }
    return this.#calls.size;
  }
}

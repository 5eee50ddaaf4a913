/**
 * Calls that are not recorded yet. A call outlives its connection: one that is cut is charged and logged after that, and what it is
 * written to must not be closed before. Requirements: BILL-01, T65.
 */
import { idTime } from "../base/ids.ts";

export class CallsUnderWay {
  /** By their ids. */
  readonly #calls = new Set<string>();
  /** What ends them here, with an error. */
  readonly #endings: (((isLast: boolean) => void) | undefined)[] = [];
  /** Its places that are free. A set that has been outgrown would keep the calls that were in it, and all that they hold, for long. */
  readonly #free: number[] = [];
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
    const place = this.#free.pop() ?? this.#endings.length;
    this.#endings[place] = end;
    return () => {
      if (this.#endings[place] !== end) return;
      this.#endings[place] = undefined;
      this.#free.push(place);
    };
  }

  /** Connections will be cut: who reads a stream is told so in it; `isLast`: next, and whoever waits for an answer is told too. */
  end(isLast: boolean): void {
    for (const end of this.#endings) end?.(isLast);
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

/**
 * Calls that are not recorded yet. A call outlives its connection: one that is cut is charged and logged after that, and what it is
 * written to must not be closed before. Requirements: BILL-01, T65.
 */
import { idTime } from "../base/ids.ts";
import type { Stoppable } from "./stopping.ts";

/** What is known here of a call: its record. */
export interface CallUnderWay {
  readonly id: string;
  /** What ends it, with an error, before its connection is cut; undefined while nothing does. */
  stoppable: Stoppable | undefined;
  /** Where it stands among those under way. */
  place: number;
}

export class CallsUnderWay {
  /** A set of ids would hash each of them, and keep for long what had been in it. */
  readonly #calls: (CallUnderWay | undefined)[] = [];
  /** Its places that are free. */
  readonly #free: number[] = [];
  #none: (() => void) | undefined;

  get #count(): number {
    return this.#calls.length - this.#free.length;
  }

  began(call: CallUnderWay): void {
    call.place = this.#free.pop() ?? this.#calls.length;
    this.#calls[call.place] = call;
  }

  /** One has been recorded. */
  ended(call: CallUnderWay): void {
    if (this.#calls[call.place] !== call) return;
    this.#calls[call.place] = undefined;
    this.#free.push(call.place);
    if (this.#count === 0) this.#none?.();
  }

  /** Connections will be cut: who reads a stream is told so in it; `isLast`: next, and whoever waits for an answer is told too. */
  stop(isLast: boolean): void {
    for (const call of this.#calls) call?.stoppable?.stop(isLast);
  }

  /** Since when the oldest one runs, as in its id; the time now where there is none. */
  since(): string {
    let since = idTime(Date.now());
    for (const call of this.#calls) {
      if (call === undefined) continue;
      const time = call.id.slice(call.id.indexOf("_") + 1).slice(0, since.length);
      if (time < since) since = time;
    }
    return since;
  }

  /** Waits until none is left, for `msMax` milliseconds at most. @returns how many are left */
  async over(msMax: number): Promise<number> {
    if (this.#count > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, msMax);
      this.#none = resolve;
      await promise;
      clearTimeout(timer);
    }
    return this.#count;
  }
}

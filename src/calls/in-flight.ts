/**
 * Calls that are not recorded yet. A call outlives its connection: after a cut it is still charged and logged, so the database and
 * logs must not be closed before. Requirements: BILL-01, T65.
 */
import { idTime } from "../base/ids.ts";
import type { Stoppable } from "./stopping.ts";

/** The part of a call's record that is used here. */
export interface InFlightCall {
  readonly id: string;
  /** Ends the call with an error before its connection is cut; undefined while nothing can end it. */
  stoppable: Stoppable | undefined;
  /** Its index in the list of calls in flight. */
  place: number;
}

export class InFlightCalls {
  /** An array: a set of ids would hash each of them, and hold memory for removed ones long after. */
  readonly #calls: (InFlightCall | undefined)[] = [];
  /** Free indexes of the list. */
  readonly #free: number[] = [];
  #none: (() => void) | undefined;

  get #count(): number {
    return this.#calls.length - this.#free.length;
  }

  began(call: InFlightCall): void {
    call.place = this.#free.pop() ?? this.#calls.length;
    this.#calls[call.place] = call;
  }

  /** Removes a call that was recorded. */
  ended(call: InFlightCall): void {
    if (this.#calls[call.place] !== call) return;
    this.#calls[call.place] = undefined;
    this.#free.push(call.place);
    if (this.#count === 0) this.#none?.();
  }

  /**
   * Called before connections are cut: a client that reads a stream gets an error in it. `isLast`: they are cut next, and clients
   * that wait for an answer get the error too.
   */
  stop(isLast: boolean): void {
    for (const call of this.#calls) call?.stoppable?.stop(isLast);
  }

  /** The start of the oldest call, in the form of ids; `nowMs` if there is none. */
  since(nowMs: number): string {
    let since = idTime(nowMs);
    for (const call of this.#calls) {
      if (call === undefined) continue;
      const time = call.id.slice(call.id.indexOf("_") + 1).slice(0, since.length);
      if (time < since) since = time;
    }
    return since;
  }

  /** Waits until no call is left, for at most `msMax` milliseconds. @returns how many are left */
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

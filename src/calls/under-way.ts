/**
 * Calls that are not recorded yet. A call outlives its connection: one that is cut is charged and logged after that, and what it is
 * written to must not be closed before. Requirements: BILL-01, T65.
 */
export class CallsUnderWay {
  #count = 0;
  #none: (() => void) | undefined;

  began(): void {
    this.#count += 1;
  }

  /** One has been recorded. */
  ended(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#none?.();
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

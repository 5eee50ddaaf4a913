/**
 * How long this process may act on what it has claimed: counted from before the claim was sent, so it never outlasts the lease in the
 * database. By the processor's count, which no setting of a clock changes; and by the machine's clock, for that count stands still while
 * the machine itself is suspended. docs/tasks.md; T81.
 */

/** The right to send a request that must not be sent twice. Shared by all copies of a job; extended with its lease. */
export interface Right {
  /** Milliseconds of `performance.now()`. */
  endMs: number;
  /** The same by the machine's clock. A clock that is set forward ends a right early, which costs a turn. */
  endClockMs: number;
}

/** A right of so many milliseconds, for a claim that is sent now. */
export const rightFor = (ms: number): Right => ({
  endMs: performance.now() + ms,
  endClockMs: Date.now() + ms,
});

/** A right that has ended. */
export const noRight: Right = { endMs: -Infinity, endClockMs: -Infinity };

/** Whether the right still holds at this moment; nobody has one who did not claim. */
export const holds = (right: Right | undefined): boolean =>
  right !== undefined && performance.now() < right.endMs && Date.now() < right.endClockMs;

/**
 * Since when the database has answered without a gap. While it was away nobody could extend a lease: one that ran out
 * meanwhile says nothing about its holder until every holder has had the time to extend it.
 */
export class Contact {
  readonly #leaseMs: number;
  #sinceMs = performance.now();
  #latestMs = this.#sinceMs;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** The database has answered. */
  answered(): void {
    const nowMs = performance.now();
    if (nowMs - this.#latestMs > this.#leaseMs / 2) this.#sinceMs = nowMs;
    this.#latestMs = nowMs;
  }

  /** The database has not answered. */
  failed(): void {
    this.#latestMs = -Infinity;
  }

  /** Whether every living holder has had the time to extend its lease. */
  isSteady(): boolean {
    return this.#latestMs - this.#sinceMs >= this.#leaseMs;
  }
}

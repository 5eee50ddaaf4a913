/**
 * How long this process may act on what it has claimed, by the processor's own count: counted from before the claim was sent,
 * so it never outlasts the lease in the database, however long the process was stopped. docs/tasks.md; T81.
 */

/** The right to send a request that must not be sent twice. Shared by all copies of a job; extended with its lease. */
export interface Right {
  /** Milliseconds of `performance.now()`. */
  endMs: number;
}

/** A right of so many milliseconds, for a claim that is sent now. */
export const rightFor = (ms: number): Right => ({ endMs: performance.now() + ms });

/** Whether the right still holds at this moment; nobody has one who did not claim. */
export const holds = (right: Right | undefined): boolean =>
  right !== undefined && performance.now() < right.endMs;

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

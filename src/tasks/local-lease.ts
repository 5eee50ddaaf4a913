/**
 * How long this process may act on a claim: counted from before the claim was sent, so it never outlasts the lease in the database.
 * It uses the monotonic clock, which no setting changes, and the machine's clock, because the monotonic one stands still while
 * the machine is suspended. docs/tasks.md; T81.
 */

/** The time within which a request may be sent that must not be sent twice. All copies of a job share it; it is extended with the lease. */
export interface LocalLease {
  /** Milliseconds of `performance.now()`. */
  endMs: number;
  /** The same by the machine's clock. If that is set forward, it ends early, which delays the step. */
  endClockMs: number;
}

/** A lease of this many milliseconds, for a claim that is sent now. */
export const newLocalLease = (ms: number): LocalLease => ({
  endMs: performance.now() + ms,
  endClockMs: Date.now() + ms,
});

/** A lease that has ended. */
export const expiredLease: LocalLease = { endMs: -Infinity, endClockMs: -Infinity };

/** True if the lease has not ended; false without a claim. */
export const isLeaseValid = (localLease: LocalLease | undefined): boolean =>
  localLease !== undefined &&
  performance.now() < localLease.endMs &&
  Date.now() < localLease.endClockMs;

/**
 * Tracks since when the database has answered without a gap. During a gap no process could extend a lease: one that expired
 * then says nothing about its holder, until every holder has had the time to extend it.
 */
export class DatabaseContact {
  readonly #leaseMs: number;
  #sinceMs = performance.now();
  #latestMs = this.#sinceMs;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Records that the database has answered. */
  answered(): void {
    const nowMs = performance.now();
    if (nowMs - this.#latestMs > this.#leaseMs / 2) this.#sinceMs = nowMs;
    this.#latestMs = nowMs;
  }

  /** Records that the database has not answered. */
  failed(): void {
    this.#latestMs = -Infinity;
  }

  /** True if every living holder has had the time to extend its lease. */
  isStable(): boolean {
    return this.#latestMs - this.#sinceMs >= this.#leaseMs;
  }
}

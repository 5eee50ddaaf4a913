/**
 * A value that expires and is fetched again ahead of that: a token, temporary keys. A call that finds a good one never waits,
 * and however many calls there are, one fetch is under way.
 */

import { hourMs } from "../../base/durations.ts";
/** What was fetched, and until when it is good: milliseconds of the system's clock. */
export interface Lease<Value> {
  readonly value: Value;
  readonly expiresMs: number;
}

/** A value is not given out in the last moments of its life: it has a way to go. */
const marginMs = 5_000;
/** After which part of its life it is fetched again, so that the rest is there for failures. */
const renewedAfter = 0.75;
const pauseMsMin = 1_000;
const pauseMsMax = hourMs;
/** Values are dropped at most so often. */
const dropMsMin = 10_000;
/** Until a value that nobody has waited for yet is tried again. */
const retryMs = 30_000;

export class Renewed<Value> {
  readonly #fetch: () => Promise<Lease<Value>>;
  #lease: Lease<Value> | undefined;
  #pending: Promise<Value> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Since the last fetch. What nobody uses or keeps is not renewed. */
  #isUsed = false;
  #isKept = false;
  /** When a value was dropped last, by a clock that only goes forward. */
  #droppedMs = -Infinity;

  /** `fetch` must end by itself. */
  constructor(fetch: () => Promise<Lease<Value>>) {
    this.#fetch = fetch;
  }

  /**
   * Fetches a value ahead of its first use, and renews it whether it is used or not, until {@link release}. A fetch that
   * fails is tried again after a while. @throws what the first `fetch` throws
   */
  async keep(): Promise<void> {
    this.#isKept = true;
    if (this.#isGood()) return;
    await this.#fetchOnce().catch((error: unknown) => {
      this.#renewIn(retryMs);
      throw error;
    });
  }

  /** From now on it is renewed only while it is used. */
  release(): void {
    this.#isKept = false;
  }

  /** The value, fetched where there is no good one. @throws what `fetch` throws */
  get(): Promise<Value> {
    this.#isUsed = true;
    return this.#isGood() ? Promise.resolve(this.#lease!.value) : this.#fetchOnce();
  }

  #isGood(): boolean {
    const lease = this.#lease;
    return lease !== undefined && Date.now() < lease.expiresMs - marginMs;
  }

  /**
   * The vendor refused it: the next call fetches another one. Not where that was so a moment ago: what a vendor refuses with a new
   * one too, such as a model that the account does not have, must not have everybody wait for a fetch after each call.
   */
  drop(value: Value): void {
    const nowMs = performance.now();
    if (this.#lease?.value !== value || nowMs - this.#droppedMs < dropMsMin) return;
    this.#droppedMs = nowMs;
    this.#lease = undefined;
  }

  #fetchOnce(): Promise<Value> {
    this.#pending ??= this.#fetch()
      .then((lease) => {
        this.#lease = lease;
        this.#isUsed = false;
        this.#renewIn((lease.expiresMs - Date.now()) * renewedAfter);
        return lease.value;
      })
      .finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer);
    const pauseMs = Math.min(Math.max(ms, pauseMsMin), pauseMsMax);
    this.#timer = setTimeout(() => {
      if (!this.#isUsed && !this.#isKept) return;
      // A failure is nobody's: the next pause tries again, while the old one is good or somebody keeps it.
      this.#fetchOnce().catch(() => {
        const isGood = this.#lease && Date.now() < this.#lease.expiresMs;
        if (isGood) this.#renewIn(pauseMs / 4);
        else if (this.#isKept) this.#renewIn(retryMs);
      });
    }, pauseMs).unref();
  }
}

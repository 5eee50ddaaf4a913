/**
 * A value that expires and is renewed ahead of that: a token, or temporary keys. A call that finds a valid one never waits. There is at
 * most one fetch in flight, however many calls there are.
 */

import { hourMs } from "../../base/durations.ts";
/** A fetched value, and its expiry in milliseconds of the system's clock; NaN if it has none. */
export interface Lease<Value> {
  readonly value: Value;
  readonly expiresMs: number;
}

/** Longest wait for a value, and for each answer on the way to it, in ms. */
export const fetchMsMax = 10_000;
/** A value is not used this close to its expiry: the request still has to arrive. */
const marginMs = 5_000;
/** The part of its life after which a value is renewed; the rest is left for retries. */
const renewedAfter = 0.75;
const pauseMsMin = 1_000;
const pauseMsMax = hourMs;
/** Minimum time between two drops, in ms. */
const dropMsMin = 10_000;
/** Milliseconds until a fetch is retried if there is no valid value. */
const retryMs = 30_000;
/** The lifetime, in ms, of a value whose expiry is no date: a vendor may leave it out, or write it unreadably. */
const lifeMsDefault = 300_000;

export class RenewingValue<Value> {
  readonly #fetch: () => Promise<Lease<Value>>;
  #lease: Lease<Value> | undefined;
  #pending: Promise<Value> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** True if used since the last fetch. A value that is neither used nor kept is not renewed. */
  #isUsed = false;
  #isKept = false;
  /** True if the last fetch that no call waited for failed. */
  #isFailing = false;
  #onFailure: (error: unknown) => void = () => undefined;
  /** Time of the last drop, on a monotonic clock. */
  #droppedMs = -Infinity;

  /** `fetch` must have its own timeout. */
  constructor(fetch: () => Promise<Lease<Value>>) {
    this.#fetch = fetch;
  }

  /**
   * Fetches a value before its first use, and renews it even if unused, until {@link release}. A failed fetch is retried after a while.
   * `onFailure` gets the error of the first renewal that fails after a success.
   * @throws the error of the first `fetch`
   */
  async keep(onFailure: (error: unknown) => void = () => undefined): Promise<void> {
    this.#isKept = true;
    this.#onFailure = onFailure;
    if (this.#isValid()) return;
    await this.#fetchOnce().catch((error: unknown) => {
      this.#isFailing = true;
      this.#renewIn(retryMs);
      throw error;
    });
  }

  /** Stops renewing the value while it is unused. */
  release(): void {
    this.#isKept = false;
  }

  /** Returns the value, fetched if there is no valid one. @throws the error of `fetch` */
  get(): Promise<Value> {
    this.#isUsed = true;
    return this.#isValid() ? Promise.resolve(this.#lease!.value) : this.#fetchOnce();
  }

  #isValid(): boolean {
    const lease = this.#lease;
    return lease !== undefined && Date.now() < lease.expiresMs - marginMs;
  }

  /**
   * Drops a value that the vendor refused, so that the next call fetches another one. Ignored within `dropMsMin` of the last drop. A vendor
   * may refuse every value, for example for a model that the account lacks: then calls must not wait for a fetch each time.
   */
  drop(value: Value): void {
    const nowMs = performance.now();
    if (this.#lease?.value !== value || nowMs - this.#droppedMs < dropMsMin) return;
    this.#droppedMs = nowMs;
    this.#lease = undefined;
  }

  #fetchOnce(): Promise<Value> {
    this.#pending ??= this.#fetch()
      .then(({ value, expiresMs }) => {
        const isDate = Number.isFinite(expiresMs);
        this.#lease = { value, expiresMs: isDate ? expiresMs : Date.now() + lifeMsDefault };
        this.#isUsed = false;
        this.#isFailing = false;
        this.#renewBefore(this.#lease);
        return value;
      })
      .finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  #renewBefore({ expiresMs }: Lease<Value>): void {
    const leftMs = expiresMs - Date.now();
    this.#renewIn(leftMs > marginMs ? leftMs * renewedAfter : retryMs);
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer);
    const pauseMs = Math.min(Math.max(ms, pauseMsMin), pauseMsMax);
    this.#timer = setTimeout(() => {
      if (!this.#isUsed && !this.#isKept) return;
      this.#fetchOnce().catch((error: unknown) => this.#failed(error));
    }, pauseMs).unref();
  }

  /** A renewal failed. It is retried later while the old value is valid or the value is kept. */
  #failed(error: unknown): void {
    if (this.#lease && Date.now() < this.#lease.expiresMs) this.#renewBefore(this.#lease);
    else if (this.#isKept) this.#renewIn(retryMs);
    if (this.#isKept && !this.#isFailing) this.#onFailure(error);
    this.#isFailing = true;
  }
}

/**
 * A value that expires and is fetched again ahead of that: a token, temporary keys. A call that finds a good one never waits,
 * and however many calls there are, one fetch is under way.
 */

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
const pauseMsMax = 3_600_000;

export class Renewed<Value> {
  readonly #fetch: () => Promise<Lease<Value>>;
  #lease: Lease<Value> | undefined;
  #pending: Promise<Value> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Since the last fetch. What nobody uses is not renewed. */
  #isUsed = false;

  /** `fetch` must end by itself. */
  constructor(fetch: () => Promise<Lease<Value>>) {
    this.#fetch = fetch;
  }

  /** The value, fetched where there is no good one. @throws what `fetch` throws */
  get(): Promise<Value> {
    this.#isUsed = true;
    const lease = this.#lease;
    if (lease && Date.now() < lease.expiresMs - marginMs) return Promise.resolve(lease.value);
    return this.#fetchOnce();
  }

  /** The vendor refused it: the next call fetches another one. */
  drop(value: Value): void {
    if (this.#lease?.value === value) this.#lease = undefined;
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
      if (!this.#isUsed) return;
      // While the old one is good, a failure is nobody's: the next pause tries again.
      this.#fetchOnce().catch(() => {
        if (this.#lease && Date.now() < this.#lease.expiresMs) this.#renewIn(pauseMs / 4);
      });
    }, pauseMs).unref();
  }
}

/**
 * Handles the deadlines of many connections with one timer, set for the earliest. Almost all deadlines are extended; that costs nothing
 * until the timer fires and checks each.
 */

/** Something with a deadline, both in milliseconds of `performance.now`. */
export interface Watched {
  /** Infinity if there is no deadline now. */
  readonly dueMs: number;
  /** Called after `dueMs`. It must not be due at the same time again. */
  expire(): void;
}

const timerMsMax = 2 ** 31 - 1;

export class Watch {
  readonly #watched: Iterable<Watched>;
  #timer: NodeJS.Timeout | undefined;
  #firesMs = Number.POSITIVE_INFINITY;

  /** All of `watched` are checked each time the timer fires. */
  constructor(watched: Iterable<Watched>) {
    this.#watched = watched;
  }

  /** Must be called with each deadline that is new or sooner than before. */
  note(dueMs: number): void {
    if (dueMs < this.#firesMs) this.#set(dueMs);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#firesMs = Number.POSITIVE_INFINITY;
  }

  #set(dueMs: number): void {
    clearTimeout(this.#timer);
    this.#firesMs = dueMs;
    const delayMs = Math.min(Math.max(1, Math.ceil(dueMs - performance.now())), timerMsMax);
    // After a long turn of the event loop, read what has arrived before anything counts as late.
    this.#timer = setTimeout(() => setImmediate(() => this.#look()), delayMs);
    this.#timer.unref();
  }

  #look(): void {
    this.#firesMs = Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    for (const watched of this.#watched) if (watched.dueMs <= nowMs) watched.expire();
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { dueMs } of this.#watched) earliestMs = Math.min(earliestMs, dueMs);
    this.note(earliestMs);
  }
}

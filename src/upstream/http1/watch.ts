/**
 * The deadlines of many connections on one timer. It is set for the earliest; deadlines that are put off, as almost all are,
 * cost nothing until it fires and looks at each.
 */

/** Something with a deadline, both in milliseconds of `performance.now`. */
export interface Watched {
  /** Infinity where there is none now. */
  readonly dueMs: number;
  /** Called once `dueMs` has passed. It must not be due at the same time again. */
  expire(): void;
}

const timerMsMax = 2 ** 31 - 1;

export class Watch {
  readonly #watched: Iterable<Watched>;
  #timer: NodeJS.Timeout | undefined;
  #firesMs = Number.POSITIVE_INFINITY;

  /** `watched` is looked through each time the timer fires. */
  constructor(watched: Iterable<Watched>) {
    this.#watched = watched;
  }

  /** Called with each deadline that is new or comes sooner than before. */
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
    // After a turn that took long, what has arrived meanwhile is read before anybody is called late.
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

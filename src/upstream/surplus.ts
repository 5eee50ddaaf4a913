/**
 * Origins that sent bytes after an answer. On a reused connection, such bytes would be one caller's answer sent to another. So for a while
 * each exchange with that origin gets its own connection.
 */
import type { Log } from "../base/log.ts";

/** Milliseconds after the last surplus bytes. */
export const suspicionMs = 600_000;

export class Suspects {
  readonly #log: Log;
  readonly #nowMs: () => number;
  /** The end of each origin's suspicion, and the time of its last warning. */
  readonly #known = new Map<string, { untilMs: number; warnedMs: number }>();

  /** `nowMs` is a monotonic clock. */
  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** True if connections to this origin must not be reused. */
  has(origin: string): boolean {
    if (this.#known.size === 0) return false;
    return (this.#known.get(origin)?.untilMs ?? 0) > this.#nowMs();
  }

  /** Records surplus bytes; warns once in ten minutes. */
  add(origin: string): void {
    const nowMs = this.#nowMs();
    const warnedMs = this.#known.get(origin)?.warnedMs ?? -Infinity;
    const isDue = nowMs - warnedMs >= suspicionMs;
    this.#known.set(origin, {
      untilMs: nowMs + suspicionMs,
      warnedMs: isDue ? nowMs : warnedMs,
    });
    if (isDue)
      this.#log.warn(
        { origin, seconds: suspicionMs / 1000 },
        "an upstream sent bytes after its answer; its connections are used for one exchange each for the next ten minutes",
      );
  }
}

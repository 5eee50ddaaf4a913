/**
 * Origins that sent bytes after an answer. On a connection that is used again such bytes are one caller's answer to another,
 * so for a while each exchange with that origin gets a connection of its own.
 */
import type { Log } from "../base/log.ts";

/** How long after the last surplus, milliseconds. */
export const suspicionMs = 600_000;

export class Suspects {
  readonly #log: Log;
  readonly #nowMs: () => number;
  /** Until when each origin is one, and when it was warned of last. */
  readonly #known = new Map<string, { untilMs: number; warnedMs: number }>();

  /** `nowMs` is a clock that only goes forward. */
  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Whether connections to this origin must not be used again. */
  has(origin: string): boolean {
    if (this.#known.size === 0) return false;
    return (this.#known.get(origin)?.untilMs ?? 0) > this.#nowMs();
  }

  /** Notes surplus bytes; warns once in ten minutes. */
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

/** How a provider's attempts of the last hour ended, in this process: counts by the minute, bounded however many there are. */

/** Failures with one outcome. */
interface Failures {
  count: number;
  lastMessage: string | null;
}

interface Minute {
  readonly startMs: number;
  calls: number;
  readonly failures: Map<string, Failures>;
}

/** Attempts and failures, the most frequent failure first. JSON as it is. */
export interface LastHour {
  readonly calls_last_hour: number;
  readonly errors_last_hour: readonly {
    readonly code: string;
    readonly count: number;
    readonly last_message: string | null;
  }[];
}

const minuteMs = 60_000;
const minutesMax = 60;
/** Outcomes are a few words and statuses; what comes beyond counts as `other`. */
const codesMax = 30;
const messageMax = 300;

export class LastHourCounts {
  #minutes: Minute[] = [];

  /** An attempt ended: `failure` says how, where it gave no answer. */
  add(
    nowMs: number,
    failure?: { readonly code: string; readonly message?: string | undefined },
  ): void {
    const minute = this.#minuteAt(nowMs);
    minute.calls += 1;
    if (failure === undefined) return;
    const { failures } = minute;
    const isKnown = failures.has(failure.code) || failures.size < codesMax;
    const code = isKnown ? failure.code : "other";
    const known = failures.get(code) ?? { count: 0, lastMessage: null };
    known.count += 1;
    known.lastMessage = failure.message?.slice(0, messageMax).toWellFormed() ?? known.lastMessage;
    failures.set(code, known);
  }

  /** The sums of the hour before. */
  read(nowMs: number): LastHour {
    const recent = this.#minutes.filter(({ startMs }) => startMs > nowMs - minutesMax * minuteMs);
    const sums = new Map<string, Failures>();
    for (const { failures } of recent)
      for (const [code, { count, lastMessage }] of failures) {
        const sum = sums.get(code);
        const total = (sum?.count ?? 0) + count;
        sums.set(code, { count: total, lastMessage: lastMessage ?? sum?.lastMessage ?? null });
      }
    const errors = [...sums].map(([code, { count, lastMessage }]) => ({
      code,
      count,
      last_message: lastMessage,
    }));
    return {
      calls_last_hour: recent.reduce((sum, { calls }) => sum + calls, 0),
      errors_last_hour: errors.sort((left, right) => right.count - left.count),
    };
  }

  #minuteAt(nowMs: number): Minute {
    const last = this.#minutes.at(-1);
    if (last !== undefined && nowMs < last.startMs + minuteMs) return last;
    const minute = { startMs: nowMs, calls: 0, failures: new Map<string, Failures>() };
    this.#minutes.push(minute);
    if (this.#minutes.length > minutesMax) this.#minutes.shift();
    return minute;
  }
}

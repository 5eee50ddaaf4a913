/** Outcome counts of attempts at providers, which a process keeps until it adds them to those of all gateways. Bounded. */
import { getOrCreate } from "../base/memoize.ts";

/** Attempts and failures, the most frequent failure first. JSON as it is. */
export interface LastHour {
  readonly calls_last_hour: number;
  readonly errors_last_hour: readonly {
    readonly code: string;
    readonly count: number;
    readonly last_message: string | null;
  }[];
}

/** Attempts at a provider with one outcome. */
export interface CountedOutcome {
  readonly provider: string;
  /** The reason why there was no answer; empty if there was one. */
  readonly outcome: string;
  readonly attempts: number;
  readonly lastMessage: string | null;
}

interface Failure {
  readonly code: string;
  readonly message?: string | undefined;
}

/** Outcomes per provider: usually a few words and statuses. Beyond this number they count as `other`. */
const outcomesMax = 30;
const outcomeLengthMax = 100;
const messageMax = 300;

/** The counts since the last `take`. */
export class OutcomeCounts {
  #byProvider = new Map<string, Map<string, CountedOutcome>>();

  /** Counts an attempt; `failure` is its reason if it gave no answer. */
  add(provider: string, failure?: Failure): void {
    const outcome = failure?.code.slice(0, outcomeLengthMax) ?? "";
    // Replaces characters in vendors' messages that the database cannot store.
    const lastMessage =
      failure?.message?.slice(0, messageMax).toWellFormed().replaceAll("\0", "\ufffd") ?? null;
    this.#count({ provider, outcome, attempts: 1, lastMessage });
  }

  /** Returns and clears all counts. */
  take(): CountedOutcome[] {
    const taken = [...this.#byProvider.values()].flatMap((outcomes) => [...outcomes.values()]);
    this.#byProvider = new Map();
    return taken;
  }

  /** Puts back counts that could not be stored; messages counted meanwhile are newer. */
  giveBack(counted: readonly CountedOutcome[]): void {
    for (const one of counted) this.#count(one, true);
  }

  #count(one: CountedOutcome, isEarlier = false): void {
    const outcomes = getOrCreate(this.#byProvider, one.provider, () => new Map());
    const isKnown = one.outcome === "" || outcomes.has(one.outcome) || outcomes.size < outcomesMax;
    const outcome = isKnown ? one.outcome : "other";
    const known = outcomes.get(outcome);
    const messages = [one.lastMessage, known?.lastMessage ?? null];
    const [first = null, second = null] = isEarlier ? messages.toReversed() : messages;
    outcomes.set(outcome, {
      provider: one.provider,
      outcome,
      attempts: one.attempts + (known?.attempts ?? 0),
      lastMessage: first ?? second,
    });
  }
}

/** The last hour of each provider that has counts. */
export function hourOf(counted: readonly CountedOutcome[]): ReadonlyMap<string, LastHour> {
  const byProvider = Map.groupBy(counted, ({ provider }) => provider);
  return new Map([...byProvider].map(([provider, outcomes]) => [provider, sumOf(outcomes)]));
}

/** The last hour of a provider without attempts. */
export const noAttempts: LastHour = { calls_last_hour: 0, errors_last_hour: [] };

/** The outcome of attempts that the gateway ended, such as for a client that left: no failure of the provider. */
export const endedHere = "aborted";
/** The outcome of attempts that were refused for the request itself: no failure of the provider either. */
export const refusedRequest = "refused_request";

const noFailures: ReadonlySet<string> = new Set(["", endedHere, refusedRequest]);

const sumOf = (outcomes: readonly CountedOutcome[]): LastHour => ({
  calls_last_hour: outcomes.reduce((sum, { attempts }) => sum + attempts, 0),
  errors_last_hour: outcomes
    .filter(({ outcome }) => !noFailures.has(outcome))
    .map(({ outcome, attempts, lastMessage }) => ({
      code: outcome,
      count: attempts,
      last_message: lastMessage,
    }))
    .sort((left, right) => right.count - left.count || (left.code < right.code ? -1 : 1)),
});

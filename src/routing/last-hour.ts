/** How attempts at providers ended: counts that a process keeps until it adds them to those of all gateways. Bounded. */
import { getOrMake } from "../base/made-once.ts";

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
  /** Why there was no answer; empty where there was one. */
  readonly outcome: string;
  readonly attempts: number;
  readonly lastMessage: string | null;
}

interface Failure {
  readonly code: string;
  readonly message?: string | undefined;
}

/** Outcomes of one provider are a few words and statuses; what comes beyond counts as `other`. */
const outcomesMax = 30;
const outcomeLengthMax = 100;
const messageMax = 300;

/** What was counted since it was last taken. */
export class OutcomeCounts {
  #byProvider = new Map<string, Map<string, CountedOutcome>>();

  /** An attempt ended: `failure` says how, where it gave no answer. */
  add(provider: string, failure?: Failure): void {
    const outcome = failure?.code.slice(0, outcomeLengthMax) ?? "";
    // What no database keeps, of words that vendors say.
    const lastMessage =
      failure?.message?.slice(0, messageMax).toWellFormed().replaceAll("\0", "\ufffd") ?? null;
    this.#count({ provider, outcome, attempts: 1, lastMessage });
  }

  /** All of it, which is forgotten here. */
  take(): CountedOutcome[] {
    const taken = [...this.#byProvider.values()].flatMap((outcomes) => [...outcomes.values()]);
    this.#byProvider = new Map();
    return taken;
  }

  /** What could not be added: it counts on, behind what came meanwhile. */
  giveBack(counted: readonly CountedOutcome[]): void {
    for (const one of counted) this.#count(one, true);
  }

  #count(one: CountedOutcome, isEarlier = false): void {
    const outcomes = getOrMake(this.#byProvider, one.provider, () => new Map());
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

/** The last hour of each provider that has one. */
export function hourOf(counted: readonly CountedOutcome[]): ReadonlyMap<string, LastHour> {
  const byProvider = Map.groupBy(counted, ({ provider }) => provider);
  return new Map([...byProvider].map(([provider, outcomes]) => [provider, sumOf(outcomes)]));
}

/** Of a provider that nobody asked. */
export const nothingAsked: LastHour = { calls_last_hour: 0, errors_last_hour: [] };

const sumOf = (outcomes: readonly CountedOutcome[]): LastHour => ({
  calls_last_hour: outcomes.reduce((sum, { attempts }) => sum + attempts, 0),
  errors_last_hour: outcomes
    .filter(({ outcome }) => outcome !== "")
    .map(({ outcome, attempts, lastMessage }) => ({
      code: outcome,
      count: attempts,
      last_message: lastMessage,
    }))
    .sort((left, right) => right.count - left.count || (left.code < right.code ? -1 : 1)),
});

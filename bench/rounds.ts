/** Runs all rounds of one group of scenarios: its subjects are started, warmed up, measured in turn and stopped. */
import type { Row } from "./figures.ts";
import { targetOf } from "./load/requests.ts";
import { measure } from "./measure.ts";
import type { Scenario } from "./scenarios.ts";
import type { Candidate, Subject, Surroundings } from "./subjects/types.ts";
import type { Upstream } from "./upstream/index.ts";

interface GroupOptions {
  readonly scenarios: readonly Scenario[];
  readonly candidates: readonly Candidate[];
  readonly rounds: number;
  readonly seconds: number;
  readonly upstream: Upstream;
  readonly createDatabase: Surroundings["createDatabase"];
  readonly signal: AbortSignal;
  /** Reports progress to the user. */
  readonly say: (text: string) => void;
}

/** Rejects when a subject does not start, or when the signal fires; by then every subject is stopped. */
export async function measureGroup(options: GroupOptions): Promise<Row[]> {
  const subjects: Subject[] = [];
  try {
    for (const candidate of options.candidates) {
      options.signal.throwIfAborted();
      options.say(`starting ${candidate.name}`);
      subjects.push(
        await candidate.start({
          upstreamUrl: options.upstream.url,
          scenarios: options.scenarios,
          createDatabase: options.createDatabase,
          signal: options.signal,
        }),
      );
    }
    return await measureRounds(options, subjects);
  } finally {
    await Promise.allSettled(subjects.map((subject) => subject.close()));
  }
}

/** Runs the rounds. Round 0 is a warm-up of half the length and does not count. */
async function measureRounds(
  { scenarios, rounds, seconds, upstream, signal, say }: GroupOptions,
  subjects: readonly Subject[],
): Promise<Row[]> {
  const subjectPids = subjects.flatMap(({ pid }) => pid ?? []);
  const rows = new Map<string, Row>();
  for (let round = 0; round <= rounds; round += 1)
    for (const scenario of scenarios) {
      for (const subject of orderOf(subjects, round)) {
        const target = targetOf(subject, scenario);
        if (target === undefined) continue;
        const counts = round > 0;
        say(
          `${counts ? `round ${round} of ${rounds}` : "warming up"}: ${scenario.name}, ${subject.name}`,
        );
        const figures = await measure({
          scenario,
          subject,
          target,
          seconds: counts ? seconds : seconds / 2,
          subjectPids,
          upstream,
          signal,
        });
        if (!counts) continue;
        const name = `${scenario.name} ${subject.name}`;
        const row = rows.get(name) ?? { scenario, subject: subject.name, rounds: [] };
        row.rounds.push(figures);
        rows.set(name, row);
      }
    }
  return sortedRows([...rows.values()], scenarios, subjects);
}

/**
 * The order of subjects in a round. Each round begins with another subject; after each has begun once, the order is reversed, so that
 * no subject always follows the same one. Work that a subject leaves to its database runs during the next measurement.
 */
export function orderOf<Item>(items: readonly Item[], round: number): Item[] {
  const { length } = items;
  const turned = items.map((_, place) => items[(place + round) % length]!);
  return Math.floor(round / length) % 2 === 0 ? turned : turned.toReversed();
}

/** Rows in the order of scenarios, then of subjects. */
const sortedRows = (
  rows: readonly Row[],
  scenarios: readonly Scenario[],
  subjects: readonly Subject[],
): Row[] =>
  scenarios.flatMap((scenario) =>
    subjects.flatMap(
      ({ name }) => rows.find((row) => row.scenario === scenario && row.subject === name) ?? [],
    ),
  );

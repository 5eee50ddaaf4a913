/** All rounds of one group of scenarios: its subjects are started, warmed up, measured in turn and stopped. */
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
  /** Tells a person what is going on. */
  readonly say: (text: string) => void;
}

/** Rejects when a subject does not start, or when the signal fires; every subject is stopped by then. */
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

/** Round 0 warms up, for half as long, and does not count. */
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
 * In which order a round takes its subjects: each round begins with another, and when each has begun once they go backwards, so that
 * no subject always follows the same one. What a subject leaves for its database to do is done during the next one's measurement.
 */
export function orderOf<Item>(items: readonly Item[], round: number): Item[] {
  const { length } = items;
  const turned = items.map((_, place) => items[(place + round) % length]!);
  return Math.floor(round / length) % 2 === 0 ? turned : turned.toReversed();
}

/** In the order of the scenarios, and within one in the order of the subjects. */
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

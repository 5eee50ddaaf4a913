/** A whole run: prepares the subjects, measures group after group, and cleans up. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../test/support/postgres.ts";
import type { Row } from "./figures.ts";
import { canPin, leaveMeasuredCore, machineName } from "./machine.ts";
import type { BenchOptions } from "./options.ts";
import { OthersMeter } from "./others.ts";
import { reportOf, type Report, type RunFacts } from "./report/shown.ts";
import { measureGroup } from "./rounds.ts";
import { groups, type Scenario } from "./scenarios.ts";
import { findCandidates } from "./subjects/candidates.ts";
import type { Candidate } from "./subjects/types.ts";
import { startUpstream } from "./upstream/index.ts";

/** The project's directory. */
export const root = fileURLToPath(new URL("..", import.meta.url));
const say = (text: string): void => console.error(`bench: ${text}`);

/** The resources of a run. */
export interface Bench {
  /** Called in reverse order when the run ends, even if it fails. */
  readonly closers: (() => unknown)[];
  /** Creates a fresh database. The server starts with the first one. */
  readonly createDatabase: () => Promise<string>;
  readonly say: (text: string) => void;
  readonly others: OthersMeter;
}

/** Runs `work` off the measured core, and closes its resources. */
export async function withBench<Result>(work: (bench: Bench) => Promise<Result>): Promise<Result> {
  leaveMeasuredCore();
  if (!canPin) say("no taskset, or one core: the processes share cores, and figures are noisier");
  const closers: (() => unknown)[] = [];
  let server: ReturnType<typeof startPostgres> | undefined;
  closers.push(async () => (await server)?.stop());
  // fsync stays on: the waiting time is part of the cost of calls.
  const createDatabase = async (): Promise<string> =>
    (await (server ??= startPostgres({ fsync: true }))).createDatabase();
  try {
    return await work({ closers, createDatabase, say, others: new OthersMeter() });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Runs the measurements that the options select. Rejects when a process does not start, or when the signal fires. */
export const runBench = (
  options: BenchOptions,
  scenarios: readonly Scenario[],
  signal: AbortSignal,
): Promise<Report> =>
  withBench(async ({ closers, others, ...bench }) => {
    const candidates = await findCandidates({ options, root, say, closers, signal });
    const upstream = await startUpstream({ port: options.upstreamPort });
    closers.push(() => upstream.close());
    say(`${scenarios.length} scenarios, ${timeEstimate(options, scenarios, candidates)}`);
    const rows: Row[] = [];
    for (const group of groups) {
      const own = scenarios.filter((one) => one.group === group.name);
      if (own.length === 0) continue;
      say(group.title);
      const { rounds, seconds } = options;
      const shared = { ...bench, candidates, rounds, seconds, upstream, signal };
      rows.push(...(await measureGroup({ ...shared, scenarios: own })));
    }
    return reportOf(factsOf(options, candidates, others), rows);
  });

const secondsToStart = 8;

function timeEstimate(
  { rounds, seconds }: BenchOptions,
  scenarios: readonly Scenario[],
  candidates: readonly Candidate[],
): string {
  const measurements = (rounds + 0.5) * (seconds + 0.5) * scenarios.length;
  const starts = new Set(scenarios.map(({ group }) => group)).size * secondsToStart;
  return `about ${Math.ceil(((measurements + starts) * candidates.length) / 60)} min`;
}

/** The facts about an ended run, for its report. */
export function factsOf(
  { rounds, seconds }: BenchOptions,
  candidates: readonly Candidate[],
  others: OthersMeter,
): RunFacts {
  const git = ["describe", "--always", "--dirty", "--exclude=*"];
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync("git", git, { cwd: root, encoding: "utf8" }).trim(),
    node: process.version,
    machine: machineName,
    pinned: canPin,
    rounds,
    seconds,
    subjects: candidates.map(({ name, against }) => ({ name, against })),
    othersBusy: others.busy(),
  };
}

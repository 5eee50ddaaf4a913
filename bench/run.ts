/** A whole run: prepares the subjects, measures group after group, and leaves nothing behind. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../test/support/postgres.ts";
import type { Row } from "./figures.ts";
import { canPin, leaveMeasuredCore, machineName } from "./machine.ts";
import { OthersMeter } from "./others.ts";
import type { BenchOptions } from "./options.ts";
import { Report } from "./report/report.ts";
import { measureGroup } from "./rounds.ts";
import { groups, type Scenario } from "./scenarios.ts";
import { bareProxy } from "./subjects/bare.ts";
import { unpackCommit } from "./subjects/commit.ts";
import { portkey } from "./subjects/portkey.ts";
import { startTollgate } from "./subjects/tollgate.ts";
import type { Candidate } from "./subjects/types.ts";
import { gatewayAt } from "./subjects/url.ts";
import { startUpstream } from "./upstream/index.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const say = (text: string): void => console.error(`bench: ${text}`);

/** Measures what the options ask for. Rejects when something does not start, or when the signal fires. */
export async function runBench(
  options: BenchOptions,
  scenarios: readonly Scenario[],
  signal: AbortSignal,
): Promise<Report> {
  leaveMeasuredCore();
  if (!canPin) say("no taskset, or one core: the processes share cores, and figures are noisier");
  const closers: (() => unknown)[] = [];
  try {
    const candidates = await findCandidates(options, closers, signal);
    const upstream = await startUpstream({ port: options.upstreamPort });
    closers.push(() => upstream.close());
    const createDatabase = databaseMaker(closers);
    say(`${scenarios.length} scenarios, ${timeTold(options, scenarios, candidates)}`);
    const others = new OthersMeter();
    const rows: Row[] = [];
    for (const group of groups) {
      const own = scenarios.filter((one) => one.group === group.name);
      if (own.length === 0) continue;
      say(group.title);
      const { rounds, seconds } = options;
      rows.push(
        ...(await measureGroup({
          scenarios: own,
          candidates,
          rounds,
          seconds,
          upstream,
          createDatabase,
          signal,
          say,
        })),
      );
    }
    return new Report({ ...facts(options, candidates), othersBusy: others.busy() }, rows);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Fresh databases of one server, which starts with the first. It keeps fsync on: what calls wait for is part of their cost. */
function databaseMaker(closers: (() => unknown)[]): () => Promise<string> {
  let server: ReturnType<typeof startPostgres> | undefined;
  closers.push(async () => (await server)?.stop());
  return async () => (await (server ??= startPostgres({ fsync: true }))).createDatabase();
}

/** Who is measured, in the order of the tables. */
async function findCandidates(
  options: BenchOptions,
  closers: (() => unknown)[],
  signal: AbortSignal,
): Promise<Candidate[]> {
  const { subjects, against, other } = options;
  const databases = (["postgres", "embedded"] as const).filter((name) => subjects.includes(name));
  const shown = { postgres: "PostgreSQL", embedded: "embedded" };
  const tollgate = (version: string, home: string, earlier?: string): Candidate[] =>
    databases.map((database) => {
      const name = `${version}, ${shown[database]}`;
      return {
        name,
        against: earlier === undefined ? undefined : `${earlier}, ${shown[database]}`,
        start: (surroundings) => startTollgate({ name, root: home, database }, surroundings),
      };
    });
  const candidates = subjects.includes("bare") ? [bareProxy] : [];
  if (against === undefined) candidates.push(...tollgate("Tollgate", root));
  else {
    say(`unpacking ${against} and its packages`);
    const tree = await unpackCommit(against, root, signal);
    closers.push(() => tree.remove());
    candidates.push(...tollgate("Tollgate", root, tree.commit));
    candidates.push(...tollgate(tree.commit, tree.root));
  }
  if (options.peers) {
    say("installing @portkey-ai/gateway where it is missing");
    candidates.push(await portkey(root, signal));
  }
  if (other !== undefined) candidates.push(gatewayAt(other));
  return candidates;
}

const secondsToStart = 8;

function timeTold(
  { rounds, seconds }: BenchOptions,
  scenarios: readonly Scenario[],
  candidates: readonly Candidate[],
): string {
  const measurements = (rounds + 0.5) * (seconds + 0.5) * scenarios.length;
  const starts = new Set(scenarios.map(({ group }) => group)).size * secondsToStart;
  return `about ${Math.ceil(((measurements + starts) * candidates.length) / 60)} min`;
}

function facts({ rounds, seconds }: BenchOptions, candidates: readonly Candidate[]) {
  const git = ["describe", "--always", "--dirty"];
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync("git", git, { cwd: root, encoding: "utf8" }).trim(),
    node: process.version,
    machine: machineName,
    pinned: canPin,
    rounds,
    seconds,
    subjects: candidates.map(({ name, against }) => ({ name, against })),
  };
}

/** The candidates that the options select. */
import type { BenchOptions } from "../options.ts";
import { bareProxy } from "./bare.ts";
import { unpackCommit } from "./commit.ts";
import { portkey } from "./portkey.ts";
import { startTollgate } from "./tollgate.ts";
import type { Candidate } from "./types.ts";
import { gatewayAt } from "./url.ts";

interface CandidateOptions {
  readonly options: BenchOptions;
  /** The project's directory. */
  readonly root: string;
  readonly say: (text: string) => void;
  /** Collects the functions that clean up at the end. */
  readonly closers: (() => unknown)[];
  readonly signal: AbortSignal;
}

const shownDatabases = { postgres: "PostgreSQL", embedded: "embedded" } as const;

/** In the order of the tables. @throws Error if a commit or a peer is not available */
export async function findCandidates({
  options,
  root,
  say,
  closers,
  signal,
}: CandidateOptions): Promise<Candidate[]> {
  const { subjects, against, other } = options;
  const databases = (["postgres", "embedded"] as const).filter((name) => subjects.includes(name));
  const tollgate = (version: string, home: string, earlier?: string): Candidate[] =>
    databases.map((database) => {
      const nameOf = (some: string): string => `${some}, ${shownDatabases[database]}`;
      const name = nameOf(version);
      return {
        name,
        against: earlier === undefined ? undefined : nameOf(earlier),
        start: (surroundings) => startTollgate({ name, root: home, database }, surroundings),
      };
    });
  /** Variants with several workers, compared with one worker. */
  const withWorkers = (workers: number): Candidate[] =>
    tollgate("Tollgate", root).map(({ name: one }, index) => {
      const name = `${one}, ${workers} workers`;
      const own = { name, root, database: databases[index]!, workers };
      return { name, against: one, start: (surroundings) => startTollgate(own, surroundings) };
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
  if (options.workers !== undefined) candidates.push(...withWorkers(options.workers));
  if (options.peers) {
    say("installing @portkey-ai/gateway where it is missing");
    candidates.push(await portkey(root, signal));
  }
  if (other !== undefined) candidates.push(gatewayAt(other));
  return candidates;
}

/** docs/mutants.json: the killed mutants of each folder's sample, and the survivors with the reasons why they may live. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fate } from "./run.ts";
import type { Mutant } from "./sites.ts";

export interface Survivor {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly from: string;
  readonly to: string;
  /** False if no test of the folder reaches it; absent while it has not been tried. */
  readonly reached?: boolean;
  /** The reason why it may live, written by hand; without one it is open. */
  readonly reason?: string;
}

export interface FolderResults {
  /** The day of the last run. */
  readonly day?: string | undefined;
  /** The number of all mutants of the folder. */
  readonly mutants: number;
  readonly sample: number;
  /** Marks of the killed mutants, separated by spaces. */
  readonly killed: string;
  readonly survivors: readonly Survivor[];
}

export type Results = Record<string, FolderResults>;

/** The path of the repository's results file. */
export const resultsPath = (root: string): string => join(root, "docs/mutants.json");

export const readResults = (path: string): Results =>
  existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Results) : {};

/** A short hash of a mutant's name. */
export const mark = (id: string): string =>
  createHash("sha256").update(id).digest("base64url").slice(0, 8);

/** The marks of the mutants that were killed the last time. */
export const knownKilled = (path: string, folder: string): Set<string> =>
  new Set(readResults(path)[folder]?.killed.split(" "));

/** The results of a run so far. */
export interface Found {
  readonly all: number;
  readonly sample: readonly Mutant[];
  readonly fates: readonly Fate[];
  /** True if only some test files ran: then a mutant that they do not reach may still be reached by others. */
  readonly isPartial: boolean;
}

/**
 * Merges new results into the stored ones, and writes them; may be called repeatedly during a run. Mutants that left the sample are
 * removed.
 */
export function keepResults(
  path: string,
  folder: string,
  { all, sample, fates, isPartial }: Found,
): { killed: number; total: number } {
  const results = readResults(path);
  const before = results[folder];
  const killedBefore = new Set(before?.killed.split(" "));
  const survivedBefore = new Map(before?.survivors.map((survivor) => [survivor.id, survivor]));
  const fateOf = new Map(fates.map((fate) => [fate.mutant.id, fate]));
  const isKilled = ({ id }: Mutant): boolean => {
    const fate = fateOf.get(id);
    if (fate === undefined || (isPartial && fate.how !== "killed"))
      return killedBefore.has(mark(id));
    return fate.how === "killed";
  };
  const killed = sample.filter(isKilled);
  const survivors = sample
    .filter((mutant) => !isKilled(mutant))
    .map(({ id, file, line, from, to }): Survivor => {
      const old = survivedBefore.get(id);
      const fate = fateOf.get(id);
      const saysNothing = fate === undefined || (isPartial && fate.how === "unreached");
      const reached = saysNothing ? old?.reached : fate.how === "survived";
      return {
        id,
        file,
        line,
        from,
        to,
        ...(reached === undefined ? {} : { reached }),
        ...(old?.reason === undefined ? {} : { reason: old.reason }),
      };
    })
    .toSorted((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  results[folder] = {
    day: fates.length > 0 ? new Date().toISOString().slice(0, 10) : before?.day,
    mutants: all,
    sample: sample.length,
    killed: killed
      .map(({ id }) => mark(id))
      .toSorted()
      .join(" "),
    survivors,
  };
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
  return { killed: killed.length, total: sample.length };
}

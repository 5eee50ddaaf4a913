/** docs/mutants.json: what was killed in each folder's sample, and what survived, with the reason why it may. */
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
  /** False when none of the tests of the folder comes to it; absent while it has not been tried. */
  readonly reached?: boolean;
  /** Why it may live, written by hand; without one it is open. */
  readonly reason?: string;
}

export interface FolderResults {
  /** All mutants of the folder. */
  readonly mutants: number;
  readonly sample: number;
  /** Marks of those that were killed, with spaces between. */
  readonly killed: string;
  readonly survivors: readonly Survivor[];
}

export type Results = Record<string, FolderResults>;

/** The file of the repository. */
export const resultsPath = (root: string): string => join(root, "docs/mutants.json");

export const readResults = (path: string): Results =>
  existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Results) : {};

/** A mutant's name in few characters. */
export const mark = (id: string): string =>
  createHash("sha256").update(id).digest("base64url").slice(0, 8);

/** The marks of what was killed the last time. */
export const knownKilled = (path: string, folder: string): Set<string> =>
  new Set(readResults(path)[folder]?.killed.split(" "));

/** What a run has found so far. */
export interface Found {
  readonly all: number;
  readonly sample: readonly Mutant[];
  readonly fates: readonly Fate[];
  /** Only some test files ran: that none of them comes to a mutant says nothing of the others. */
  readonly isPartial: boolean;
}

/**
 * Puts what was found now over what was known, and writes it; may be called again as a run goes on. Mutants that left the
 * sample are forgotten.
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

/**
 * The fixed sample of a folder: the mutants whose names hash lowest. A change elsewhere in the folder does not change the sample; a
 * changed line replaces only its own mutants. All mutants of files with money join it.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mutantsOf, type Mutant } from "./sites.ts";
import { foldersWithoutSample, moneyFiles } from "./suites.ts";

/** The number of mutants that run per folder, beside those of files with money. */
export const sampleSize = 150;

const order = (id: string): string => createHash("sha256").update(id).digest("hex");

const filesIn = (root: string, globs: readonly string[]): string[] =>
  globSync(globs, { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .toSorted();

/** The sample of `src/FOLDER` with all mutants of its files with money, and the number of all its mutants. */
export function sampleOf(
  root: string,
  folder: string,
): { readonly all: number; readonly sample: readonly Mutant[] } {
  const withMoney = new Set(filesIn(root, moneyFiles));
  const mutants = filesIn(root, [`src/${folder}/**/*.ts`]).flatMap((file) =>
    mutantsOf(file, readFileSync(join(root, file), "utf8")),
  );
  const size = foldersWithoutSample.includes(folder) ? 0 : sampleSize;
  const sample = mutants
    .map((mutant) => ({ mutant, rank: order(mutant.id) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ mutant }) => mutant)
    .filter(({ file }, index) => index < size || withMoney.has(file));
  return { all: mutants.length, sample };
}

/**
 * The fixed sample of a folder: the mutants whose names hash lowest. A change elsewhere in the folder leaves the sample as it
 * is; a changed line takes its own mutants out and perhaps others in.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mutantsOf, type Mutant } from "./sites.ts";

/** Mutants of each folder that are run. */
export const sampleSize = 150;

const order = (id: string): string => createHash("sha256").update(id).digest("hex");

/** The sample of `src/FOLDER`, and how many mutants there are in all. */
export function sampleOf(
  root: string,
  folder: string,
): { readonly all: number; readonly sample: readonly Mutant[] } {
  const mutants = globSync(`src/${folder}/**/*.ts`, { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .toSorted()
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), "utf8")));
  const sample = mutants
    .map((mutant) => ({ mutant, rank: order(mutant.id) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, sampleSize)
    .map(({ mutant }) => mutant);
  return { all: mutants.length, sample };
}

/**
 * The fixed sample of a folder: the mutants whose names hash lowest. A change elsewhere in the folder does not change the sample; a
 * changed line replaces only its own mutants.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mutantsOf, type Mutant } from "./sites.ts";

/** The number of mutants that run per folder. */
export const sampleSize = 150;

const order = (id: string): string => createHash("sha256").update(id).digest("hex");

/** The sample of `src/FOLDER`, and the number of all its mutants. */
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

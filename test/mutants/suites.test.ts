/** The suites that test mutants. If a suite misses a test file that has moved, its mutants seem to survive. */
import { existsSync, globSync } from "node:fs";
import { expect, it } from "vitest";
import { moneyFiles, suites } from "../../scripts/mutants/suites.ts";

/** Expands `a/{b,c}.ts` to `a/b.ts` and `a/c.ts`; one pair of braces. */
function alternatives(glob: string): string[] {
  const [, before, inside, after] = /^(.*)\{(.*)\}(.*)$/.exec(glob) ?? [];
  return inside === undefined ? [glob] : inside.split(",").map((one) => before! + one + after!);
}

it.each(Object.keys(suites))(
  "the test files of the suites of %s exist, and so does its folder",
  (folder) => {
    expect(existsSync(`src/${folder}`)).toBe(true);
    const missing = suites[folder]!.flatMap(alternatives).filter(
      (glob) => globSync(glob).length === 0,
    );
    expect(missing).toEqual([]);
  },
);

it.each(moneyFiles)("the files with money exist, in a folder that has suites: %s", (glob) => {
  expect(alternatives(glob).filter((one) => globSync(one).length === 0)).toEqual([]);
  expect(Object.keys(suites)).toContain(glob.split("/")[1]);
});

/** The result file of a mutant run. A run may end at any time, or cover only some test files; earlier results are never lost. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { keepResults, readResults, type Found } from "../../scripts/mutants/results.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const mutants = ["a", "b", "c", "d"].map((id, line) => ({
  id,
  file: "src/one.ts",
  line,
  start: 0,
  end: 1,
  from: "1",
  to: "2",
}));
const fate = (index: number, how: Found["fates"][number]["how"]) => ({
  mutant: mutants[index]!,
  how,
});

it("a result file is updated after each mutant, marks untried mutants, and keeps verdicts that a partial run cannot change", () => {
  const path = join(temporaryDirectory(), "mutants.json");
  const keep = (isPartial: boolean, ...fates: Found["fates"]) => {
    const counts = keepResults(path, "one", { all: 9, sample: mutants, fates, isPartial });
    const { survivors } = readResults(path)["one"]!;
    return [counts.killed, ...survivors.map(({ id, reached }) => `${id} ${reached}`)];
  };
  const first = [fate(0, "killed"), fate(1, "survived")];
  expect(keep(false, ...first)).toEqual([1, "b true", "c undefined", "d undefined"]);
  expect(keep(false, ...first, fate(2, "unreached"))).toEqual([
    1,
    "b true",
    "c false",
    "d undefined",
  ]);
  expect(keep(true, fate(0, "unreached"), fate(1, "unreached"), fate(2, "killed"))).toEqual([
    2,
    "b true",
    "d undefined",
  ]);
  expect(keep(false, fate(0, "survived"))).toEqual([1, "a true", "b true", "d undefined"]);
});

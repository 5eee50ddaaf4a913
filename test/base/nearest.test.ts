/** Suggestions for unknown words are found by the edits that they need, and cheaply: lists of the management API search hundreds. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { nearest } from "../../src/base/suggest.ts";
import { leastCostMs } from "../support/cost.ts";

/** The edits between two words, by their definition. */
function edits(left: string, right: string): number {
  if (left === "" || right === "") return left.length + right.length;
  const [a, b] = [left.at(-1), right.at(-1)];
  const ways = [
    edits(left.slice(0, -1), right.slice(0, -1)) + (a === b ? 0 : 1),
    edits(left.slice(0, -1), right) + 1,
    edits(left, right.slice(0, -1)) + 1,
  ];
  if (left.length > 1 && right.length > 1 && a === right.at(-2) && left.at(-2) === b)
    ways.push(edits(left.slice(0, -2), right.slice(0, -2)) + 1);
  return Math.min(...ways);
}

const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 6 });

it("the nearest word is the first of those with the fewest edits, if these are few", () => {
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 5 }), (wanted, known) => {
      const few = Math.floor(Math.max(wanted.length, 3) / 3);
      const all = known.map((one) => edits(wanted, one));
      const least = Math.min(...all);
      const first = least <= few ? known[all.indexOf(least)] : undefined;
      expect(nearest(wanted, known)).toBe(first);
    }),
    { numRuns: 60 },
  );
});

it("a word that is longer in small letters is compared like any other", () => {
  const word = "\u0130".repeat(100);
  expect(nearest(word, [`${word}abc`, word.slice(1)])).toBe(word.slice(1));
});

it("three hundred long words are searched among a thousand names in a moment", async () => {
  const known = Array.from({ length: 1_000 }, (_, at) => `vendor-${at % 40}/model-${at}-instruct`);
  const words = Array.from({ length: 300 }, (_, at) => `${at}unknown`.padEnd(90, "xyz"));
  const search = () => words.filter((one) => nearest(one, known) !== undefined);
  expect(search()).toEqual([]);
  // It took nineteen seconds.
  expect(await leastCostMs(search, 400)).toBeLessThan(400);
});

/** Rounds of background work that delete rows in steps: they go on until nothing is left, however much there is. */
import { expect, it } from "vitest";
import { untilNothingLeft } from "../../src/cli/periodic-work.ts";

/** A step that deletes one of `rows`; `stopAt`: the number of steps after which the work must stop. */
function deletionOf(rows: number, stopAt = Infinity) {
  let steps = 0;
  const work = untilNothingLeft(
    () => steps < stopAt,
    () => {
      steps += 1;
      return Promise.resolve(Math.sign(Math.max(0, rows - steps + 1)));
    },
  );
  return work.then(() => steps);
}

it("a round ends when a step has found nothing, not after a fixed number of steps", async () => {
  expect(await deletionOf(100)).toBe(101);
  expect(await deletionOf(0)).toBe(1);
});

it("a round ends after its current step when the gateway stops", async () => {
  expect(await deletionOf(100, 7)).toBe(7);
});

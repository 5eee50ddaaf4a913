/** Which answers of batches show that commits were lost. test/replica/lost-commits.test.ts tests the consequences. */
import { expect, it } from "vitest";
import { CommitTracker, type LostCommits } from "../../src/storage/index.ts";

/** A batch of a lane, its row's number before, and whether the batch wrote anything. */
type Noted = readonly [lane: number, number: number, before: bigint | null, isWritten: boolean];

it.each<[string, readonly Noted[], readonly LostCommits[]]>([
  [
    "each after the other",
    [
      [1, 1, null, true],
      [1, 2, 1n, true],
      [1, 3, 2n, true],
    ],
    [],
  ],
  [
    "sendings whose answers nobody heard",
    [
      [1, 1, null, true],
      [1, 4, 3n, true],
    ],
    [],
  ],
  // The first batch was in flight without an answer when the third found its row locked, and then written.
  [
    "one that was overtaken",
    [
      [1, 3, null, false],
      [1, 4, 1n, true],
    ],
    [],
  ],
  [
    "a lane that is new beside another",
    [
      [1, 5, 4n, true],
      [2, 1, null, true],
    ],
    [],
  ],
  [
    "nothing since, where nothing is said",
    [
      [1, 3, 2n, true],
      [1, 4, 3n, false],
      [1, 5, 3n, true],
    ],
    [],
  ],
  [
    "two lost",
    [
      [1, 5, 4n, true],
      [1, 6, 3n, true],
    ],
    [{ batches: 2 }],
  ],
  [
    "found out by one that has nothing to say",
    [
      [1, 5, 4n, true],
      [1, 6, 4n, false],
    ],
    [{ batches: 1 }],
  ],
  [
    "the lane itself",
    [
      [1, 5, 4n, true],
      [1, 6, null, true],
    ],
    [{ batches: undefined }],
  ],
  [
    "told once for all lanes",
    [
      [1, 5, 4n, true],
      [2, 9, 8n, true],
      [1, 6, 3n, true],
      [2, 10, 7n, true],
    ],
    [{ batches: 2 }],
  ],
])("T65 T67: %s", async (_, noted, lost) => {
  const reported: LostCommits[] = [];
  let back = 0;
  const confirmed = new CommitTracker({
    giveBack: async () => void (back += 1),
    onLost: (one) => reported.push(one),
  });
  for (const [lane, number, before, isWritten] of noted)
    await confirmed.note({ lane, number }, before, isWritten).catch(() => undefined);
  expect(reported).toEqual(lost);
  expect(back).toBe(lost.length);
});

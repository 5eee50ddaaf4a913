/** Which answers of batches show that commits were lost. test/replica/lost-commits.test.ts tests the consequences. */
import { expect, it } from "vitest";
import { CommitTracker, type LostCommits } from "../../src/storage/index.ts";

/** A batch of a lane, its row's number before, and whether the batch wrote anything. */
type NotedBatch = readonly [
  lane: number,
  number: number,
  before: bigint | null,
  isWritten: boolean,
];

it.each<[string, readonly NotedBatch[], readonly LostCommits[]]>([
  [
    "batches one after another lose nothing",
    [
      [1, 1, null, true],
      [1, 2, 1n, true],
      [1, 3, 2n, true],
    ],
    [],
  ],
  [
    "retries without answers lose nothing",
    [
      [1, 1, null, true],
      [1, 4, 3n, true],
    ],
    [],
  ],
  // The first batch was in flight without an answer when the third found its row locked, and then written.
  [
    "an overtaken batch is not lost",
    [
      [1, 3, null, false],
      [1, 4, 1n, true],
    ],
    [],
  ],
  [
    "a new lane beside another loses nothing",
    [
      [1, 5, 4n, true],
      [2, 1, null, true],
    ],
    [],
  ],
  [
    "a batch that wrote nothing is not missed",
    [
      [1, 3, 2n, true],
      [1, 4, 3n, false],
      [1, 5, 3n, true],
    ],
    [],
  ],
  [
    "two lost batches are reported",
    [
      [1, 5, 4n, true],
      [1, 6, 3n, true],
    ],
    [{ batches: 2 }],
  ],
  [
    "a loss is found by a batch that writes nothing",
    [
      [1, 5, 4n, true],
      [1, 6, 4n, false],
    ],
    [{ batches: 1 }],
  ],
  [
    "a lost lane is reported without a number of batches",
    [
      [1, 5, 4n, true],
      [1, 6, null, true],
    ],
    [{ batches: undefined }],
  ],
  [
    "a loss in several lanes is reported once",
    [
      [1, 5, 4n, true],
      [2, 9, 8n, true],
      [1, 6, 3n, true],
      [2, 10, 7n, true],
    ],
    [{ batches: 2 }],
  ],
])("T65 T67: %s", async (_, batches, lost) => {
  const reported: LostCommits[] = [];
  let back = 0;
  const tracker = new CommitTracker({
    giveBack: async () => void (back += 1),
    onLost: (one) => reported.push(one),
  });
  for (const [lane, number, before, isWritten] of batches)
    await tracker.note({ lane, number }, before, isWritten).catch(() => undefined);
  expect(reported).toEqual(lost);
  expect(back).toBe(lost.length);
});

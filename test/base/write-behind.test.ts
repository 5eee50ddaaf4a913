/** Writes that no caller waits for: in batches, in order, within bounds. */
import { expect, it } from "vitest";
import { createWriteBehind, roomFor } from "../../src/base/write-behind.ts";

function makeQueue(gatherMs: number, writing: () => Promise<void> = () => Promise.resolve()) {
  const batches: number[][] = [];
  const dropped: number[] = [];
  const queue = createWriteBehind<number>({
    async write(batch) {
      batches.push([...batch]);
      await writing();
    },
    batchMax: 3,
    gatherMs,
    room: roomFor(10),
    sizeOf: (item) => item,
    dropped: (items) => void dropped.push(items),
  });
  return { queue, batches, dropped };
}

it("a full batch is written at once, the rest at a flush, in the order of arrival", async () => {
  const { queue, batches } = makeQueue(60_000);
  for (const item of [1, 2, 3, 1]) queue.add(item);
  await expect.poll(() => batches).toEqual([[1, 2, 3]]);
  await queue.flush();
  expect(batches).toEqual([[1, 2, 3], [1]]);
  queue.add(2);
  await queue.flush();
  expect(batches).toEqual([[1, 2, 3], [1], [2]]);
});

it("T85: items beyond the size limit are dropped and counted; a batch in flight counts until it is written", async () => {
  const { promise: slow, resolve: end } = Promise.withResolvers<void>();
  const { queue, batches, dropped } = makeQueue(0, () => slow);
  queue.add(9);
  await expect.poll(() => batches).toEqual([[9]]);
  for (const item of [2, 1, 1, 3]) queue.add(item);
  expect(dropped).toEqual([]);
  end();
  await queue.flush();
  expect([batches, dropped]).toEqual([[[9], [1]], [3]]);
  queue.add(10);
  await queue.flush();
  expect(batches.at(-1)).toEqual([10]);
  expect(dropped).toEqual([3]);
});

it("T85: a queue that does not become empty tells of its losses while they go on", async () => {
  const known: number[] = [];
  const { queue, batches, dropped } = makeQueue(0, async () => {
    known.push(dropped.length);
    if (batches.length === 5) return;
    // One more fits beside the item that is being written, and the next does not.
    const [written] = batches.at(-1)!;
    queue.add(written === 9 ? 1 : 9);
    queue.add(5);
  });
  queue.add(9);
  await queue.flush();
  expect(batches).toEqual([[9], [1], [9], [1], [9]]);
  expect(known).toEqual([0, 1, 1, 1, 1]);
  expect(dropped).toEqual([1, 3]);
});

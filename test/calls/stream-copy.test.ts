/** The texts of a call that are kept word for word: bounded by their own size, and by the budget of bodies in flight. */
import { expect, it } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { Keeper } from "../../src/calls/keep.ts";
import type { Reply } from "../../src/calls/reply.ts";

const reply = { write: () => true } as unknown as Reply;
const frame = { data: "x".repeat(1_000) };

/** Keeps `frames` frames of a stream within the budget, and the request. */
function keep(frames: number, budget: ByteBudget, request = Buffer.from("{}")) {
  const lease = budget.lease();
  const body = { source: { bytes: request } };
  const caller = { keepBodies: "all" };
  const call = { id: "req_1", protocol: "chat", body, caller, lease };
  const keeper = new Keeper(call as unknown as ConstructorParameters<typeof Keeper>[0], reply);
  for (let count = 0; count < frames; count += 1) keeper.write([frame]);
  const { answer, truncated } = keeper.bodies({ status: "succeeded" } as never)!;
  return { length: answer!.length, truncated, lease };
}

it("the events of a stream are kept up to 256 KiB, and count in the budget as they grow", () => {
  const budget = new ByteBudget(1e9);
  const { length, truncated, lease } = keep(100, budget);
  expect([length, truncated]).toEqual([100 * 1_008, []]);
  expect(budget.heldBytes).toBe(length);
  lease.release();
  expect(budget.heldBytes).toBe(0);
  const long = keep(1_000, budget);
  expect([long.length, long.truncated]).toEqual([256 * 1024, ["answer"]]);
});

it("the kept copy is cut if bodies in flight leave no room for it, and is listed as truncated", () => {
  const budget = new ByteBudget(50_000);
  const { length, truncated } = keep(100, budget);
  expect([length, truncated]).toEqual([49 * 1_008, ["answer"]]);
  expect(budget.heldBytes).toBe(49 * 1_008);
});

it("a long request is cut without a copy of all of it, which would block other calls", () => {
  const request = Buffer.alloc(64 * 2 ** 20, "x");
  const before = process.memoryUsage().arrayBuffers;
  const { truncated } = keep(1, new ByteBudget(1e9), request);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
  expect(truncated).toEqual(["request"]);
});

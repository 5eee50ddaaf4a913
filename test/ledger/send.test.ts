/** The sender of batches: what it returns, and what it confirms to the watch over lost commits. docs/ledger.md "Batches". */
import { expect, it } from "vitest";
import { sendTo, type Batch } from "../../src/ledger/batch.ts";
import type { CommitTracker, Queryable } from "../../src/storage/index.ts";

const batch: Batch = {
  gateway: "g",
  lane: 1,
  number: 2,
  leaseMs: 1_000,
  restore: false,
  skipLocked: false,
  targets: [],
  sentAt: 0,
};
const row = { place: 1, allowance: 5n, refusal: null, at: null, before: 1n };

it("a batch that did nothing returns no rows and confirms nothing", async () => {
  const noted: unknown[] = [];
  const tracker = { note: (...of: unknown[]) => void noted.push(of.slice(1)) };
  const answering = (rows: readonly object[]) =>
    ({ query: async () => rows }) as unknown as Queryable;
  const send = (rows: readonly object[]) =>
    sendTo(answering(rows), undefined, tracker as unknown as CommitTracker)(batch);
  expect(await send([row])).toEqual([row]);
  expect(await send([{ place: null, before: 7n }])).toEqual([]);
  expect(noted).toEqual([
    [1n, true],
    [7n, false],
  ]);
});

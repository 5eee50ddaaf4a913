/** The sender of batches: what it returns, what it confirms to the watch over lost commits, and when leases are renewed. docs/ledger.md "Batches". */
import { expect, it, vi } from "vitest";
import { sendTo, type Batch } from "../../src/ledger/batch.ts";
import { createLedger } from "../../src/ledger/index.ts";
import type { CommitTracker, Database, Queryable } from "../../src/storage/index.ts";

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

it("T65: the leases of a gateway's lanes are renewed after a third of their time", () => {
  using timers = vi.spyOn(globalThis, "setInterval");
  const subscribe = () => () => undefined;
  const signals = { subscribe, onReconnect: subscribe };
  createLedger({ signals } as unknown as Database, { leaseMs: 60_000 });
  expect(timers.mock.calls.map(([, everyMs]) => everyMs)).toEqual([20_000]);
  clearInterval(timers.mock.results[0]!.value as NodeJS.Timeout);
});

/** Spares: reservations in advance for calls that come while a turn is under way. docs/ledger.md "Pooled holds". */
import { expect, it } from "vitest";
import { manualClock, systemClock, type Clock } from "../../src/base/clock.ts";
import { createLedger, verifyLedger, type Ledger } from "../../src/ledger/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabases } from "../support/postgres.ts";
import { addKey, addWorkspace, setCap } from "./support.ts";

const workspaceId = "w";
const boundNano = 10n;

async function setUp(
  database: Database,
  creditNano: bigint,
  clock: Clock = systemClock,
): Promise<Ledger> {
  await addWorkspace(database, workspaceId);
  await addKey(database, { workspaceId, id: "k", createdBy: "m" });
  const ledger = createLedger(database, clock);
  await ledger.credit({ workspaceId, amountNano: creditNano, reference: "start" });
  return ledger;
}

let made = 0;
const newCall = () => `call-${(made += 1)}`;

async function reserve(ledger: Ledger, id = newCall()): Promise<string> {
  const call = { id, workspaceId, keyId: "k", amountNano: boundNano, leaseMs: 60_000 };
  return (await ledger.reserve({ ...call, kind: "text", pooled: true })).outcome;
}

/** Reserves `count` calls at once; answers with their ids. */
async function begin(ledger: Ledger, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, newCall);
  const outcomes = await Promise.all(ids.map((id) => reserve(ledger, id)));
  expect(new Set(outcomes)).toEqual(new Set(["reserved"]));
  return ids;
}

const end = (ledger: Ledger, ids: readonly string[]) =>
  Promise.all(ids.map((id) => ledger.post({ id, workspaceId, amountNano: 3n })));

/** Calls that the pools' rows count. */
async function counted(database: Database): Promise<number> {
  const [row] = await database.query<{ calls: bigint }>(
    "select coalesce(sum(calls), 0)::bigint as calls from ledger_holds",
  );
  return Number(row!.calls);
}

const held = async (ledger: Ledger) => (await ledger.balance(workspaceId)).heldNano;

describeDatabases("spares", (open) => {
  it("T63: a burst is granted once and a half as many in advance; calls take them without the database, and each entry stands for itself", async () => {
    const database = await open();
    // It stands still: however slow the test is, the checks stay fresh.
    const ledger = await setUp(database, 1_000_000n, manualClock(Date.now()));
    const first = await begin(ledger, 16);
    expect(await counted(database)).toBe(40);
    expect(await held(ledger)).toBe(400n);
    const second = await begin(ledger, 9);
    expect(await held(ledger)).toBe(400n);
    await end(ledger, [...first, ...second]);
    expect(await held(ledger)).toBe(0n);
    expect(await counted(database)).toBe(0);
    expect((await ledger.balance(workspaceId)).chargedNano).toBe(3n * 25n);
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("T65: what no call takes is given back within moments, though the others run on", async () => {
    const database = await open();
    const ledger = await setUp(database, 1_000_000n);
    const running = await begin(ledger, 20);
    await expect.poll(() => held(ledger), { timeout: 10_000 }).toBe(200n);
    expect(await counted(database)).toBe(20);
    expect(await verifyLedger(database)).toEqual([]);
    await end(ledger, running);
    expect(await counted(database)).toBe(0);
  });

  it("T65: closing gives them back at once", async () => {
    const database = await open();
    const ledger = await setUp(database, 1_000_000n);
    await begin(ledger, 20);
    await ledger.close();
    expect(await held(ledger)).toBe(200n);
  });

  it("T63: there are none where little is left, nor under caps: these are counted exactly", async () => {
    const database = await open();
    const ledger = await setUp(database, 3_000n);
    await end(ledger, await begin(ledger, 20));
    await begin(ledger, 20);
    expect(await held(ledger)).toBe(200n);
    const other = await setUpCapped(database);
    await begin(other, 20);
    expect(await held(other)).toBe(400n);
  });

  it("KEY-13: a key that is disabled under load is refused when the checks of the last turn have aged", async () => {
    const database = await open();
    const clock = manualClock(Date.now());
    const ledger = await setUp(database, 1_000_000n, clock);
    const running = await begin(ledger, 40);
    await database.query("update api_keys set status = 'disabled'");
    clock.advance(49);
    running.push(...(await begin(ledger, 1)));
    clock.advance(1);
    expect(await reserve(ledger)).toBe("key_disabled");
    await end(ledger, running);
    // Aged spares may be on their way back by themselves.
    await expect.poll(() => held(ledger), { timeout: 10_000 }).toBe(0n);
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("KEY-13: and when the clock was set back behind them", async () => {
    const database = await open();
    const clock = manualClock(Date.now());
    const ledger = await setUp(database, 1_000_000n, clock);
    await begin(ledger, 40);
    await database.query("update api_keys set status = 'disabled'");
    clock.advance(-3_600_000);
    expect(await reserve(ledger)).toBe("key_disabled");
  });

  it("KEY-13: and at once when a turn has found it so", async () => {
    const database = await open();
    const ledger = await setUp(database, 1_000_000n);
    await begin(ledger, 40);
    await database.query("update api_keys set status = 'disabled'");
    // More than the 60 spares: the rest asks the database.
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => reserve(ledger)));
    expect(outcomes.filter((outcome) => outcome === "reserved").length).toBeLessThanOrEqual(60);
    expect(await reserve(ledger)).toBe("key_disabled");
  });

  /** The same ledger's books, with a cap on the key that is far away. */
  async function setUpCapped(database: Database): Promise<Ledger> {
    const cap = { layer: "key", workspaceId, id: "k", window: "total" } as const;
    await setCap(database, { ...cap, amountNano: 1_000_000_000n });
    const ledger = createLedger(database, systemClock);
    await ledger.credit({ workspaceId, amountNano: 1_000_000_000n, reference: "more" });
    return ledger;
  }
});

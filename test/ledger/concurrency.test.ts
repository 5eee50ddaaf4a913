/** Many concurrent callers on several ledgers: no credit is admitted twice, no reservation is left over. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { verifyLedger } from "../../src/verification/index.ts";
import { sendTo } from "../../src/ledger/batch.ts";
import { KeyUse } from "../../src/ledger/key-use.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { describeDatabase, sharedPostgres, silentLog } from "../support/postgres.ts";
import { targetOf } from "./batches.ts";
import { openCall, OpenCalls } from "./open-calls.ts";
import { addKey, addWorkspace, setCap } from "./support.ts";
import { createLedger, type TestLedger } from "../support/ledger.ts";

async function setUp(database: Database, creditNano: bigint): Promise<void> {
  await addWorkspace(database, "w");
  await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
  const ledger = createLedger(database);
  await ledger.credit({ workspaceId: "w", amountNano: creditNano, reference: "start" });
}

const hold = { workspaceId: "w", keyId: "k", keyRotation: 0 };

const callsOf = (ledgers: readonly TestLedger[]) => ledgers.map((ledger) => new OpenCalls(ledger));

async function reserveMany(gateways: readonly OpenCalls[], count: number): Promise<string[]> {
  const results = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const id = `r${index}`;
      const calls = gateways[index % gateways.length]!;
      const outcome = await calls.begin({ ...hold, id, amountNano: 10n });
      return outcome === "reserved" ? id : undefined;
    }),
  );
  return results.filter((id) => id !== undefined);
}

describeDatabase("concurrent callers", (open) => {
  it("T63: exactly 100 of 1,000 concurrent reservations pass with credit for 100", async () => {
    const database = await open();
    await setUp(database, 1_000n);
    const ledgers = [1, 2, 3].map(() => createLedger(database));
    const reserved = await reserveMany(callsOf(ledgers), 1_000);
    expect(reserved).toHaveLength(100);
    expect((await ledgers[0]!.balance("w")).availableNano).toBe(0n);
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("T63: a hard cap is never exceeded, at any concurrency", async () => {
    const database = await open();
    await setUp(database, 1_000_000n);
    await setCap(database, {
      layer: "key",
      workspaceId: "w",
      id: "k",
      window: "daily",
      amountNano: 505n,
      hard: true,
    });
    const ledgers = [1, 2, 3].map(() => createLedger(database));
    expect(await reserveMany(callsOf(ledgers), 300)).toHaveLength(50);
  });

  it("T65 T67: any mix of charges, voids, repeated ids and sweeps leaves no hold and counts nothing twice", async () => {
    const database = await open();
    await setUp(database, 1_000_000n);
    const ledgers = [1, 2, 3].map(() => createLedger(database, { leaseMs: 600 }));
    const calls = callsOf(ledgers);
    const reserved = await reserveMany(calls, 400);
    expect(reserved).toHaveLength(400);
    // Gateways never reuse an id. If two calls had the same id, the ledger would skip the second entry.
    const again = async (index: number, id: string, amountNano: bigint | null) =>
      (await openCall(ledgers[index % 3]!, { ...hold, id, amountNano: 10n })).end(amountNano);
    await Promise.all(
      reserved.flatMap((id, index) => {
        const own = calls[index % 3]!;
        if (index % 4 === 0)
          return [own.end(id, 7n), again(index, id, 7n), again(index + 1, id, 7n)];
        if (index % 4 === 1) return [own.end(id, null), again(index + 1, id, null)];
        if (index % 4 === 2) return [own.end(id, 7n), again(index, id, null)];
        return [];
      }),
    );
    const entries = await database.query<{ kind: string; calls: bigint; entries: bigint }>(
      `select kind, count(distinct reference) as calls, count(*) as entries from ledger_entries
       where kind <> 'credit' group by kind`,
    );
    expect(entries.reduce((sum, one) => sum + one.calls, 0n)).toBe(300n);
    expect(entries.reduce((sum, one) => sum + one.entries, 0n)).toBe(300n);
    const posted = entries.find(({ kind }) => kind === "charge")!.entries;
    expect(posted).toBeGreaterThanOrEqual(100n);
    // The sweeper releases nothing of gateways that are alive.
    await sleep(700);
    expect(await ledgers[0]!.expire()).toBe(0);
    expect((await ledgers[0]!.balance("w")).heldNano).toBe(1_000n);
    expect(await verifyLedger(database)).toEqual([]);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    expect(await ledgers[0]!.balance("w")).toMatchObject({
      heldNano: 0n,
      chargedNano: posted * 7n,
    });
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("a bad item fails alone, and the rest of its batch succeeds", async () => {
    const database = await open();
    await setUp(database, 1_000n);
    const ledger = createLedger(database);
    const calls = new OpenCalls(ledger);
    const good = ["a", "b", "c"].map((id) => calls.begin({ ...hold, id, amountNano: 1n }));
    // PostgreSQL's text cannot hold U+0000.
    const bad = calls.begin({ ...hold, keyId: "k\u0000", id: "d", amountNano: 1n });
    await expect(bad).rejects.toThrow(/invalid byte sequence/);
    expect(await Promise.all(good)).toEqual(good.map(() => "reserved"));
    const name = "e\u0000";
    await calls.begin({ ...hold, id: name, amountNano: 1n });
    const ends = ["a", "b", name, "c"].map((id) =>
      calls.end(id, 1n).then(
        () => "charged",
        () => "failed",
      ),
    );
    expect(await Promise.all(ends)).toEqual(["charged", "charged", "failed", "charged"]);
    await expect.poll(async () => (await ledger.balance("w")).heldNano).toBe(0n);
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("CAP-03: kept headroom is judged like new headroom, and not granted near a cap", async () => {
    const database = await open();
    await setUp(database, 1_000_000n);
    const lane = { gateway: "g", lane: 1, leaseMs: 60_000, skipLocked: false, sentAt: 0 };
    const key = new KeyUse({ workspaceId: "w", keyId: "k", keyRotation: 0 });
    let number = 0;
    const send = async (restore: boolean, use: bigint, keep: bigint, headroom: bigint) => {
      number += 1;
      const targets = [targetOf(key, 0n, { use, keep, headroom })];
      const rows = await sendTo(database)({ ...lane, number, restore, targets });
      return rows.map(({ allowance }) => allowance);
    };
    await send(true, 0n, 0n, 0n);
    expect(await send(false, 0n, 0n, 100n)).toEqual([100n]);
    expect(await send(false, 100n, 100n, 1n)).toEqual([101n]);
    const cap = { layer: "key", workspaceId: "w", id: "k", window: "total" } as const;
    await setCap(database, { ...cap, amountNano: 3_000n });
    expect(await send(false, 100n, 100n, 1n)).toEqual([100n]);
    await setCap(database, { ...cap, amountNano: 3_300n });
    expect(await send(false, 100n, 100n, 1n)).toEqual([101n]);
  });

  it("verify finds no difference while traffic runs, and finds rows that were tampered with", async () => {
    const database = await open();
    await setUp(database, 1_000_000n);
    const ledger = createLedger(database);
    const stop = new AbortController();
    const traffic = Array.from({ length: 8 }, async (_, caller) => {
      for (let round = 0; !stop.signal.aborted; round += 1) {
        const id = `t${caller}-${round}`;
        const amountNano = round % 3 === 0 ? null : 3n;
        await ledger.spend({ ...hold, id, amountNano: 10n }, () => Promise.resolve({ amountNano }));
      }
    });
    let charged = 0n;
    for (let round = 0; round < 10 || charged === 0n; round += 1) {
      expect(await verifyLedger(database)).toEqual([]);
      charged = (await ledger.balance("w")).chargedNano;
    }
    stop.abort();
    await Promise.all(traffic);
    await database.query("update ledger_accounts set charged_nano = charged_nano - 1");
    await database.query("update ledger_spend set day_nano = day_nano + 2 where scope = 'member'");
    const whats = (await verifyLedger(database)).map((difference) => difference.what);
    expect(whats).toEqual(["account charged", "member m daily"]);
  });
});

describe("the ledgers of several processes on one server", () => {
  const opened: Database[] = [];
  afterAll(() => Promise.all(opened.map((database) => database.close())));

  it("T63 T85: neither deadlock nor admit too much with batches over many workspaces", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    for (let index = 0; index < 3; index += 1) {
      opened.push(await openDatabase({ url, connectionsMax: 3, log: silentLog }));
    }
    await migrate(opened[0]!);
    const ledgers = opened.map((database) => createLedger(database));
    const names = Array.from({ length: 12 }, (_, index) => `w${index}`);
    for (const id of names) {
      await addWorkspace(opened[0]!, id);
      await addKey(opened[0]!, { workspaceId: id, id: "k", createdBy: "m" });
      await ledgers[0]!.credit({ workspaceId: id, amountNano: 50n, reference: "start" });
    }
    const results = await Promise.all(
      Array.from({ length: 3_000 }, async (_, index) => {
        // Each ledger takes the workspaces in a different order: only the lock order prevents deadlocks.
        const step = [1, 5, 7][index % 3]!;
        const workspaceId = names[(Math.floor(index / 3) * step) % names.length]!;
        const calls = new OpenCalls(ledgers[index % 3]!);
        const id = `r${index}`;
        const outcome = await calls.begin({ ...hold, workspaceId, id, amountNano: 1n });
        if (outcome === "reserved") await calls.end(id, 1n);
        return outcome;
      }),
    );
    expect(results.filter((outcome) => outcome === "reserved")).toHaveLength(12 * 50);
    expect(results.filter((outcome) => outcome === "insufficient_balance")).toHaveLength(2_400);
    expect(await verifyLedger(opened[0]!)).toEqual([]);
  });
});

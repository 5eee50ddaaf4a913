/** Pooled holds: one row for many calls, and all else as if each had its own. docs/ledger.md "Pooled holds". */
import { expect, it } from "vitest";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { createLedger, verifyLedger, type Ledger } from "../../src/ledger/index.ts";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { describeDatabases } from "../support/postgres.ts";
import { addKey, addWorkspace, setCap } from "./support.ts";

const leaseMs = 60_000;
const workspaceId = "w";
const call = (id: string, amountNano: bigint, keyId = "k") => ({
  id,
  workspaceId,
  keyId,
  amountNano,
  leaseMs,
  kind: "text" as const,
  pooled: true,
});
const post = (id: string, amountNano: bigint) => ({ id, workspaceId, amountNano });
const name = (id: string) => ({ id, workspaceId });

async function setUp(database: Database, creditNano = 1_000n): Promise<void> {
  await addWorkspace(database, workspaceId);
  for (const id of ["k", "l"]) await addKey(database, { workspaceId, id, createdBy: "m" });
  const ledger = createLedger(database, systemClock);
  await ledger.credit({ workspaceId, amountNano: creditNano, reference: "start" });
}

interface HoldRow {
  readonly id: string;
  readonly key_id: string;
  readonly member_id: string;
  readonly amount_nano: bigint;
  readonly calls: number;
}

const holdsOf = (database: Database) =>
  database.query<HoldRow>(
    "select id, key_id, member_id, amount_nano, calls from ledger_holds order by amount_nano",
  );

const entriesOf = async (ledger: Ledger) =>
  (await ledger.entries(workspaceId)).entries
    .filter((entry) => entry.kind !== "credit")
    .map((entry) => `${entry.kind} ${entry.reference} ${entry.amountNano} of ${entry.heldNano}`)
    .toSorted();

async function expectEven(database: Database): Promise<void> {
  expect(await verifyLedger(database)).toEqual([]);
  expect(await holdsOf(database)).toEqual([]);
}

type Fault = "before" | "after" | undefined;

/** A database whose pooled turns may fail: before they reach it, or after their commit, when only the answer is lost. */
function faulty(database: Database, faults: Fault[]): Database {
  const query: Queryable["query"] = async (sql, params, options) => {
    const fault = /ledger_(?:pool_turn|pooled|raised)\(/.test(sql) ? faults.shift() : undefined;
    const lost = Object.assign(new Error("Connection terminated"), { code: "ECONNRESET" });
    if (fault === "before") throw lost;
    const rows = await database.query<never>(sql, params, options);
    if (fault === "after") throw lost;
    return rows;
  };
  return { ...database, query };
}

describeDatabases("pooled holds", (open) => {
  it("calls of a key share one row, each has its own entry, and the row goes with the last of them", async () => {
    const database = await open();
    await setUp(database);
    const ledger = createLedger(database, systemClock);
    const reserved = await Promise.all([
      ...["a", "b", "c"].map((id) => ledger.reserve(call(id, 10n))),
      ledger.reserve(call("d", 5n, "l")),
    ]);
    expect(reserved).toEqual(reserved.map(() => ({ outcome: "reserved", pooled: true })));
    expect(await holdsOf(database)).toMatchObject([
      { key_id: "l", member_id: "m", amount_nano: 5n, calls: 1 },
      { key_id: "k", member_id: "m", amount_nano: 30n, calls: 3 },
    ]);
    expect(await ledger.balance(workspaceId)).toMatchObject({ heldNano: 35n });
    expect(await verifyLedger(database)).toEqual([]);
    expect(await ledger.reserve(call("a", 10n))).toEqual({ outcome: "already_reserved" });
    const ends = await Promise.all([
      ledger.post(post("a", 4n)),
      ledger.post(post("a", 4n)),
      ledger.void(name("a")),
      ledger.void(name("b")),
      ledger.post(post("c", 12n)),
      ledger.post(post("d", 0n)),
    ]);
    expect(ends).toEqual([
      { outcome: "posted", chargedNano: 4n },
      { outcome: "already_posted", chargedNano: 4n },
      { outcome: "already_posted" },
      { outcome: "voided" },
      { outcome: "posted", chargedNano: 12n },
      { outcome: "posted", chargedNano: 0n },
    ]);
    expect(await entriesOf(ledger)).toEqual([
      "charge a 4 of 10",
      "charge c 12 of 10",
      "charge d 0 of 5",
      "void b 0 of 10",
    ]);
    expect(await ledger.spend(workspaceId, { layer: "key", id: "k" })).toMatchObject({
      total: 16n,
      heldNano: 0n,
    });
    await expectEven(database);
  });

  it("T67: an answer that is lost after the commit changes nothing: each is reserved once and charged once", async () => {
    const database = await open();
    await setUp(database);
    for (const fault of ["after", "before"] as const) {
      const faults: Fault[] = [fault];
      const ledger = createLedger(faulty(database, faults), systemClock);
      const ids = ["a", "b", "c"].map((id) => `${fault}-${id}`);
      const first = await ledger.reserve(call(ids[0]!, 10n));
      expect(first).toEqual({ outcome: "reserved", pooled: true });
      // The pool is there now: this batch raises it.
      faults.push(fault);
      await Promise.all(ids.slice(1).map((id) => ledger.reserve(call(id, 10n))));
      expect(await holdsOf(database)).toMatchObject([{ amount_nano: 30n, calls: 3 }]);
      faults.push(fault);
      const ends = await Promise.all([
        ledger.post(post(ids[0]!, 7n)),
        ledger.void(name(ids[1]!)),
        ledger.post(post(ids[2]!, 8n)),
        // In the same turn: its raise and the others' ends are lost together.
        ledger.reserve(call(`${fault}-d`, 1n)),
      ]);
      expect(ends.map((end) => end.outcome)).toEqual(
        fault === "before"
          ? ["posted", "voided", "posted", "reserved"]
          : ["already_posted", "already_voided", "already_posted", "reserved"],
      );
      expect(faults).toEqual([]);
      expect(await holdsOf(database)).toMatchObject([{ amount_nano: 1n, calls: 1 }]);
      await ledger.void(name(`${fault}-d`));
      await expectEven(database);
    }
    expect((await createLedger(database, systemClock).balance(workspaceId)).chargedNano).toBe(30n);
  });

  it("T67: a reservation that was given up but committed holds nothing beyond its pool's lease, and nobody joins it", async () => {
    const database = await open();
    await setUp(database);
    const clock = manualClock(Date.parse("2026-11-04T12:00:00Z"));
    const faults: Fault[] = [];
    const ledger = createLedger(faulty(database, faults), clock);
    await ledger.reserve(call("a", 10n));
    // It is committed, and then nothing answers for longer than a reservation waits.
    faults.push("after", ...Array.from({ length: 20 }, () => "before" as const));
    await expect(ledger.reserve(call("b", 20n))).rejects.toThrow(/not reachable/);
    faults.length = 0;
    expect(await ledger.reserve(call("c", 1n))).toMatchObject({ pooled: true });
    expect(await holdsOf(database)).toMatchObject([
      { amount_nano: 1n, calls: 1 },
      { amount_nano: 30n, calls: 2 },
    ]);
    await ledger.post(post("a", 7n));
    clock.advance(leaseMs - 1);
    await ledger.extendPools(leaseMs);
    clock.advance(1);
    expect(await ledger.expireHolds()).toBe(1);
    expect(await holdsOf(database)).toMatchObject([{ amount_nano: 1n, calls: 1 }]);
    expect(await ledger.void(name("c"))).toEqual({ outcome: "voided" });
    expect((await ledger.balance(workspaceId)).availableNano).toBe(993n);
    await expectEven(database);
  });

  it("T65: a pool that nobody attends expires at once for all its calls; their ends are told so, and charged late once", async () => {
    const database = await open();
    await setUp(database);
    const clock = manualClock(Date.parse("2026-11-04T12:00:00Z"));
    const ledger = createLedger(database, clock);
    await Promise.all(["a", "b", "c"].map((id) => ledger.reserve(call(id, 10n))));
    clock.advance(leaseMs - 1);
    expect(await ledger.expireHolds()).toBe(0);
    await ledger.extendPools(leaseMs);
    clock.advance(leaseMs - 1);
    expect(await ledger.expireHolds()).toBe(0);
    clock.advance(1);
    expect(await createLedger(database, clock).expireHolds()).toBe(3);
    expect((await ledger.balance(workspaceId)).heldNano).toBe(0n);

    // New calls of the key have a pool of their own, which the late ones do not lower.
    const turn = await Promise.all([
      ledger.post(post("a", 4n)),
      ledger.void(name("b")),
      ledger.reserve(call("d", 10n)),
    ]);
    expect(turn.map((result) => result.outcome)).toEqual([
      "already_voided",
      "already_voided",
      "reserved",
    ]);
    expect(await holdsOf(database)).toMatchObject([{ amount_nano: 10n, calls: 1 }]);
    for (let again = 0; again < 2; again += 1) {
      expect(await ledger.chargeExpired(post("a", 4n + BigInt(again)))).toEqual({
        outcome: "posted",
        chargedNano: 4n,
      });
      expect(await ledger.post(post("a", 4n))).toMatchObject({ outcome: "already_voided" });
    }
    await ledger.post(post("d", 10n));
    const pool = (await ledger.entries(workspaceId)).entries.find(
      (entry) => entry.heldNano === 30n,
    );
    expect(pool).toMatchObject({ kind: "expire", keyId: "k", amountNano: 0n });
    expect((await entriesOf(ledger)).filter((one) => !one.includes("pool_"))).toEqual([
      "charge a:late 4 of 0",
      "charge d 10 of 10",
      "expire a 0 of 0",
      "expire b 0 of 0",
    ]);
    await ledger.void(name("c"));
    await expectEven(database);
  });

  it("T63: of 1,000 pooled reservations on three ledgers with credit for 100, exactly 100 pass", async () => {
    const database = await open();
    await setUp(database);
    const ledgers = [1, 2, 3].map(() => createLedger(database, systemClock));
    const results = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        ledgers[index % 3]!.reserve(call(`r${index}`, 10n, index % 2 === 0 ? "k" : "l")),
      ),
    );
    const reserved = results.flatMap(({ outcome }, index) =>
      outcome === "reserved" ? [index] : [],
    );
    expect(reserved).toHaveLength(100);
    expect((await ledgers[0]!.balance(workspaceId)).availableNano).toBe(0n);
    await Promise.all(
      reserved.map((index) => ledgers[index % 3]!.post(post(`r${index}`, BigInt(index % 11)))),
    );
    await expectEven(database);
  });

  it("T63: hard caps of all layers count what pools hold, and caps that leave room do not keep calls out of pools", async () => {
    const database = await open();
    await setUp(database);
    const layers = [
      ["key", "k"],
      ["member", "m"],
      ["workspace", workspaceId],
    ] as const;
    for (const [layer, id] of layers) {
      const ledgers = [1, 2].map(() => createLedger(database, systemClock));
      const cap = (amountNano: bigint | null) =>
        setCap(database, { layer, workspaceId, id, window: "total", amountNano, hard: true });
      const spent = (await ledgers[0]!.spend(workspaceId, { layer, id })).total;
      await cap(spent + 105n);
      const ids = Array.from({ length: 30 }, (_, index) => `${layer}${index}`);
      const results = await Promise.all(
        ids.map((one, index) => ledgers[index % 2]!.reserve(call(one, 10n))),
      );
      const reserved = ids.filter((_, index) => results[index]!.outcome === "reserved");
      expect(reserved).toHaveLength(10);
      for (const one of reserved) {
        await Promise.all(ledgers.map((ledger) => ledger.post(post(one, 1n))));
      }
      expect((await ledgers[0]!.spend(workspaceId, { layer, id })).total).toBe(spent + 10n);
      expect(await ledgers[0]!.reserve(call(`${layer}-room`, 10n))).toMatchObject({ pooled: true });
      await cap(spent + 10n);
      expect(await ledgers[0]!.reserve(call(`${layer}-none`, 0n))).toMatchObject({
        outcome: "cap_reached",
        layer,
      });
      await ledgers[0]!.void(name(`${layer}-room`));
      await cap(null);
    }
    await expectEven(database);
  });

  it("KEY-13: a key that is disabled, expired or rotated away is refused in the reservation itself", async () => {
    const database = await open();
    await setUp(database);
    const clock = manualClock(Date.parse("2026-11-04T12:00:00Z"));
    const ledger = createLedger(database, clock);
    await ledger.reserve(call("before", 1n));
    const change = (set: string) => database.query(`update api_keys set ${set} where id = 'k'`);
    let count = 0;
    const outcome = async (keyRotation?: number) => {
      const id = `r${(count += 1)}`;
      const result = await ledger.reserve({ ...call(id, 1n), keyRotation });
      if (result.outcome === "reserved") await ledger.void(name(id));
      return result.outcome;
    };
    await change("status = 'disabled'");
    expect(await outcome()).toBe("key_disabled");
    await change("status = 'active', expires_at = '2026-11-04T12:00:00Z'");
    expect(await outcome()).toBe("key_expired");
    await change(
      "expires_at = null, rotations = 1, previous_lookup = 'y', previous_expires_at = '2026-11-04T12:00:01Z'",
    );
    expect(await outcome(0)).toBe("reserved");
    clock.advance(1_000);
    expect(await outcome(0)).toBe("key_unknown");
    expect(await outcome(1)).toBe("reserved");
    expect(await ledger.post(post("before", 1n))).toMatchObject({ outcome: "posted" });
    await expectEven(database);
  });
});

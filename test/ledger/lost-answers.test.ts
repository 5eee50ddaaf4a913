/** Turns whose answers are lost, or that reach the database late: done once all the same. docs/ledger.md "Pooled holds". */
import { expect, it } from "vitest";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { createLedger, verifyLedger } from "../../src/ledger/index.ts";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import {
  call,
  expectEven,
  holdsOf,
  leaseMs,
  name,
  post,
  setUp,
  workspaceId,
} from "./pooled-support.ts";

type Fault = "before" | "after" | "late" | "arrival" | undefined;
type Late = () => Promise<unknown>;

/**
 * A database whose pooled turns may fail: before they reach it, or after their commit, when only the answer is lost. A late one
 * reaches it when the caller has heard of the failure: behind the statement of which it is the "arrival", or when it is run.
 */
function faulty(database: Database, faults: Fault[], late: Late[] = []): Database {
  const query: Queryable["query"] = async (sql, params, options) => {
    const isTurn = /ledger_(?:pool_turn|pooled|raised|settled)\(/.test(sql);
    const fault = isTurn ? faults.shift() : undefined;
    const lost = Object.assign(new Error("Connection terminated"), { code: "ECONNRESET" });
    if (fault === "late") late.push(() => database.query(sql, params, options));
    if (fault === "before" || fault === "late") throw lost;
    const rows = await database.query<never>(sql, params, options);
    if (fault === "after") throw lost;
    if (fault === "arrival") await late.shift()!();
    return rows;
  };
  return { ...database, query };
}

describeDatabase("lost answers of pooled turns", (open) => {
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

  it("T67: a statement that reaches the server after it was sent again, and after those that followed, is not applied twice", async () => {
    const database = await open();
    await setUp(database);
    const faults: Fault[] = [];
    const late: Late[] = [];
    const ledger = createLedger(faulty(database, faults, late), systemClock);
    const expectPool = async (amountNano: bigint, calls: number) => {
      expect(await holdsOf(database)).toMatchObject([{ amount_nano: amountNano, calls }]);
      expect(await verifyLedger(database)).toEqual([]);
    };
    await ledger.reserve(call("a", 10n));
    faults.push("late");
    expect(await ledger.reserve(call("b", 10n))).toEqual({ outcome: "reserved", pooled: true });
    await ledger.reserve(call("c", 10n));
    await expectPool(30n, 3);
    await late.shift()!();
    await expectPool(30n, 3);
    faults.push("late");
    expect((await ledger.post(post("a", 7n))).outcome).toBe("posted");
    await ledger.reserve(call("d", 10n));
    await expect(late.shift()!()).rejects.toThrow(/duplicate key/);
    await expectPool(30n, 3);
    for (const id of ["b", "c", "d"]) await ledger.post(post(id, 1n));
    await expectEven(database);
  });

  it("T67: one that comes through while it is sent again is found: the call is reserved once and charged once", async () => {
    const database = await open();
    await setUp(database);
    const faults: Fault[] = [];
    const ledger = createLedger(faulty(database, faults), systemClock);
    // The first writes the pool, the second raises it.
    for (const [count, id] of ["a", "b"].entries()) {
      faults.push("late", "arrival");
      expect(await ledger.reserve(call(id, 10n))).toEqual({ outcome: "reserved", pooled: true });
      expect(await holdsOf(database)).toMatchObject([
        { amount_nano: 10n * BigInt(count + 1), calls: count + 1 },
      ]);
    }
    for (const id of ["a", "b"]) {
      faults.push("late", "arrival");
      expect(await ledger.post(post(id, 3n))).toEqual({
        outcome: "already_posted",
        chargedNano: 3n,
      });
    }
    expect((await ledger.balance(workspaceId)).chargedNano).toBe(6n);
    await expectEven(database);
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
});

/** Small rules of the ledger: amounts, ends of periods, idle keys, restoring. docs/ledger.md. */
import { beforeEach, describe, expect, it } from "vitest";
import { readEntries } from "../../src/admin/index.ts";
import { creditIn } from "../../src/ledger/credit.ts";
import { decide } from "../../src/ledger/decide.ts";
import { reserveIn, settleIn } from "../../src/ledger/holds.ts";
import { KeyUse } from "../../src/ledger/key-use.ts";
import { resetsAt } from "../../src/base/cap-windows.ts";
import type { Queryable } from "../../src/storage/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { backlogOf, entryOf, next, rowOf, targetOf } from "./batches.ts";
import { openCall } from "./open-calls.ts";
import { addKey, addWorkspace, reserveOne, setLedgerClock, tamper } from "./support.ts";
import { createLedger } from "../support/ledger.ts";

let key: KeyUse;
beforeEach(() => {
  key = new KeyUse({ workspaceId: "w", keyId: "k", keyRotation: 0 });
});

describe("an amount", () => {
  /** Rejects every query: an amount that passes the check gets here. */
  const rejecting = { query: () => Promise.reject(new Error("asked")) } as unknown as Queryable;
  const most = 10_000_000n * 1_000_000_000n;
  const call = { id: "r", workspaceId: "w" };
  const credit = (amountNano: bigint) =>
    creditIn(rejecting, { workspaceId: "w", amountNano, reference: "r" });

  it("is 0 to ten million dollars for a charge; a void has none", async () => {
    await expect(settleIn(rejecting, call, -1n)).rejects.toThrow("out of range: -1");
    await expect(settleIn(rejecting, call, most + 1n)).rejects.toThrow("out of range");
    await expect(settleIn(rejecting, call, most)).rejects.toThrow("asked");
    await expect(settleIn(rejecting, call, 0n)).rejects.toThrow("asked");
    await expect(settleIn(rejecting, call, null)).rejects.toThrow("asked");
  });

  it("may be negative for a credit, within the same limit", async () => {
    await expect(credit(-most)).rejects.toThrow("asked");
    await expect(credit(-most - 1n)).rejects.toThrow("out of range");
    await expect(credit(most + 1n)).rejects.toThrow("out of range");
  });
});

it("CAP-02: a window ends at 00:00 UTC of the next day, Monday or first of month; the total never", () => {
  const ends = (at: string) =>
    (["daily", "weekly", "monthly", "total"] as const).map(
      (window) => resetsAt(window, Date.parse(at))?.toISOString().slice(0, 10) ?? null,
    );
  // A Sunday, a Monday, and the last day of a year.
  expect(ends("2026-11-29T23:59:59Z")).toEqual(["2026-11-30", "2026-11-30", "2026-12-01", null]);
  expect(ends("2026-11-30T00:00:00Z")).toEqual(["2026-12-01", "2026-12-07", "2026-12-01", null]);
  expect(ends("2026-12-31T12:00:00Z")).toEqual(["2027-01-01", "2027-01-04", "2027-01-01", null]);
});

it("headroom is due for return when it was unused for a while, and at once if its key is served then", () => {
  const backlog = backlogOf([key]);
  const isReturnDue = () => !backlog.isEmpty;
  key.begin(5n, 1_000);
  key.granted = 8n;
  backlog.requeue(key, 1_059);
  backlog.tidy(1_059);
  expect(isReturnDue()).toBe(false);
  backlog.tidy(1_060);
  expect(isReturnDue()).toBe(true);
  backlog.requeue(key, 1_060);
  expect(isReturnDue()).toBe(true);
  key.granted = 5n;
  backlog.requeue(key, 1_060);
  backlog.tidy(1_120);
  expect(isReturnDue()).toBe(false);
});

describeDatabase("holds that are taken in one transaction", (open) => {
  it("are taken in the order of their workspaces, and answered in the order of the request", async () => {
    const database = await open();
    for (const workspaceId of ["a", "b", "c"]) {
      await addWorkspace(database, workspaceId);
      await addKey(database, { workspaceId, id: `${workspaceId}-key` });
      await creditIn(database, { workspaceId, amountNano: 100n, reference: "start" });
    }
    await database.query("update api_keys set rotations = 5");
    const inputs = (["b 1", "a 2", "c 3", "a 4", "c 5"] as const).map((name) => {
      const [workspaceId, id] = name.split(" ") as [string, string];
      const hold = {
        workspaceId,
        id,
        keyId: `${workspaceId}-key`,
        keyRotation: 5,
        amountNano: 60n,
      };
      return { ...hold, kind: "image" as const, leaseMs: 1_000 };
    });
    const old = { ...inputs[0]!, id: "old", keyRotation: 3 };
    const taken = await database.transaction((tx) =>
      reserveIn(tx, [...inputs, old], { global: 9, perWorkspace: 9 }),
    );
    expect(taken.map((refusal) => refusal?.error.code)).toEqual([
      undefined,
      undefined,
      undefined,
      "insufficient_balance",
      "insufficient_balance",
      "invalid_api_key",
    ]);
    const rows = await database.query("select id from ledger_holds order by ctid");
    expect(rows).toEqual([{ id: "2" }, { id: "1" }, { id: "3" }]);
  });
});

it("a batch after a failed one takes one key, and leaves the others for later", () => {
  const other = new KeyUse({ workspaceId: "w", keyId: "o", keyRotation: 0 });
  const backlog = backlogOf([key, other]);
  const taken = () =>
    backlog.nextTargets(0, true).map((target) => {
      backlog.requeue(target.key, 0);
      return target.key.name.keyId;
    });
  expect([taken(), taken(), taken()]).toEqual([["k"], ["o"], []]);
});

describeDatabase("a call", (open) => {
  it("T65: is charged nothing if an earlier call had its id: an id has one entry", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
    const ledger = createLedger(database);
    const { entryId } = await ledger.credit({
      workspaceId: "w",
      amountNano: 100n,
      reference: "start",
    });
    expect(entryId).toMatch(/^entry_\d+$/);
    const call = { workspaceId: "w", keyId: "k", keyRotation: 0, id: "r", amountNano: 40n };
    const [first, second] = [await openCall(ledger, call), await openCall(ledger, call)];
    await first.end(30n);
    await second.end(20n);
    await ledger.close();
    expect(await ledger.balance("w")).toMatchObject({ chargedNano: 30n, heldNano: 0n });
    expect(await verifyLedger(database)).toEqual([]);
    // Its id is no reference for credit either.
    const credit = { workspaceId: "w", amountNano: 5n, reference: "r" };
    await expect(ledger.credit(credit)).rejects.toMatchObject({
      code: "conflict",
      message: "The reference belongs to another ledger entry.",
    });
    expect(await ledger.balance("w")).toMatchObject({ creditsNano: 100n });
  });
});

describeDatabase("credit", (open) => {
  it("is taken back at most as far as it was added, and 0 changes nothing", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    const ledger = createLedger(database);
    const credit = (reference: string, amountNano: bigint) =>
      ledger.credit({ workspaceId: "w", amountNano, reference });
    await credit("a", 100n);
    await expect(credit("b", -101n)).rejects.toMatchObject({
      code: "conflict",
      message: "$0.000000101 cannot be taken back: the workspace was credited $0.0000001 in all.",
    });
    expect(await credit("c", -100n)).toMatchObject({ balanceAfterNano: 0n });
    expect(await verifyLedger(database)).toEqual([]);
  });
});

describeDatabase("an unknown workspace", (open) => {
  it("is refused credit with not_found", async () => {
    const ledger = createLedger(await open());
    const missing = { code: "not_found", message: "No such workspace: none." };
    const credit = { workspaceId: "none", amountNano: 1n, reference: "r" };
    await expect(ledger.credit(credit)).rejects.toMatchObject(missing);
  });
});

describeDatabase("a sweep", (open) => {
  it("releases the reservations of a dead gateway, and returns how many", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k" });
    const [died, other] = [createLedger(database), createLedger(database)];
    await died.credit({ workspaceId: "w", amountNano: 100n, reference: "start" });
    await openCall(died, {
      workspaceId: "w",
      keyId: "k",
      keyRotation: 0,
      id: "r",
      amountNano: 60n,
    });
    expect(await other.expire()).toBe(0);
    await database.query("update ledger_lanes set lease_until = ledger_now() - interval '1 s'");
    expect([await other.expire(), await other.expire()]).toEqual([1, 0]);
    expect((await other.balance("w")).heldNano).toBe(0n);
  });

  it("releases them within minutes if the database's clock was hours ahead; holds of tasks stay", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k" });
    const [died, other] = [createLedger(database), createLedger(database)];
    await died.credit({ workspaceId: "w", amountNano: 100n, reference: "start" });
    const call = { workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 30n };
    await setLedgerClock(database, "2026-11-04T18:00:00Z");
    await openCall(died, { ...call, id: "r" });
    const hold = { ...call, id: "t", kind: "task" as const, leaseMs: 86_400_000 };
    expect(await database.transaction((tx) => reserveOne(tx, hold))).toBe("reserved");
    await setLedgerClock(database, "2026-11-04T12:00:00Z");
    expect(await other.expire()).toBe(0);
    await setLedgerClock(database, "2026-11-04T12:01:01Z");
    expect([await other.expire(), await other.expire()]).toEqual([1, 0]);
    expect((await other.balance("w")).heldNano).toBe(30n);
  });
});

describeDatabase("ledger entries of a key", (open) => {
  it("are searched 50,000 at a time: a page may be empty and have a cursor", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await tamper(
      database,
      `insert into ledger_entries (workspace_id, entry, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
       overriding system value
       select 'w', n, 'r' || n, 'charge', 1, 1, 0, case when n = 1 then 'k' else 'l' end, now() from generate_series(1, 50001) n`,
    );
    const page = { keyId: "k", limit: 50 };
    const first = await readEntries(database, "w", page);
    expect(first).toEqual({ entries: [], nextCursor: "2" });
    const second = await readEntries(database, "w", { ...page, cursor: first.nextCursor! });
    expect(second).toMatchObject({ entries: [{ reference: "r1", keyId: "k" }], nextCursor: null });
  });
});

describe("a restoring batch", () => {
  const restored = () => backlogOf([key]).restored(0);

  it("has the keys with running calls or unwritten entries, and no others", () => {
    expect(restored()).toEqual([]);
    key.begin(5n, 0);
    expect(restored()).toMatchObject([
      { key: { name: { keyId: "k" } }, need: 5n, use: 5n, keep: 0n },
    ]);
    key.end(entryOf("a", { bound: 5n, charge: 5n }));
    expect(restored()).toMatchObject([{ entries: [{ id: "a" }], need: 0n, use: 0n }]);
    key.begin(5n, 0);
    expect(restored()).toMatchObject([{ key: { name: { keyId: "k" } }, need: 5n }]);
  });

  it("takes up to 500 entries of its keys, and reserves what the others will draw", () => {
    for (let count = 0; count < 501; count += 1) {
      key.begin(5n, 0);
      key.end(entryOf(`e${count}`, { bound: 5n, charge: 4n }));
    }
    const [target] = restored();
    expect([target!.entries.length, target!.need]).toEqual([500, 4n]);
  });
});

it("a batch keeps reserved what the entries that stay behind will draw", () => {
  for (let count = 0; count < 20; count += 1) {
    key.begin(5n, 0);
    key.end(entryOf("a", { bound: 5n, charge: 4n }));
  }
  const [target] = next([key]).targets;
  expect([target!.entries.length, target!.need, target!.use]).toEqual([16, 16n, 16n]);
});

it("the `use` of a target is what calls use and what they may be granted meanwhile", () => {
  key.begin(5n, 0);
  key.granted = 25n;
  key.headroomGranted = true;
  key.checkedAt = 0;
  const [target] = next([key], 1).targets;
  expect(target!.keep).toBeGreaterThan(0n);
  expect(target).toMatchObject({ need: 5n, use: 5n + target!.keep });
});

describe("a check of a key", () => {
  it("is trusted for a limited time, and not after a change", () => {
    key.checkedAt = 1_000;
    expect(key.isTrusted(1_001)).toBe(true);
    key.changedAt = 1_000;
    expect(key.isTrusted(1_001)).toBe(false);
    key.checkedAt = 1_001;
    expect(key.isTrusted(1_001)).toBe(true);
    expect(key.isTrusted(60_000)).toBe(false);
  });

  it("is stale, so that a batch renews it, if headroom is short or left though none was granted", () => {
    key.checkedAt = 1_000;
    key.begin(5n, 1_000);
    key.granted = 10n;
    key.headroomGranted = true;
    expect(key.isStale(1_000)).toBe(false);
    key.granted = 9n;
    expect(key.isStale(1_000)).toBe(true);
    key.headroomGranted = false;
    expect(key.isStale(1_000)).toBe(true);
    key.granted = 5n;
    expect(key.isStale(1_000)).toBe(false);
    // Trust ends after 50 ms.
    expect([key.isStale(1_024), key.isStale(1_025)]).toEqual([false, true]);
  });

  it("leaves a waiting call undecided if the answer has no balance and no caps", () => {
    key.waiting.push({
      bound: 5n,
      since: 0,
      resolve: () => undefined,
      reject: () => undefined,
    });
    expect(decide(targetOf(key, 0n), rowOf(null), 0, 100)).toEqual([]);
    expect(key.waiting).toHaveLength(1);
    const answer = { refusal: null, available: 0n, rooms: [], caps: [], idle: 0n, at: new Date(0) };
    expect(decide(targetOf(key, 0n), rowOf(answer), 0, 100)).toHaveLength(1);
  });
});

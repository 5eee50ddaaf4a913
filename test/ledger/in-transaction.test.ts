/** The ledger inside its caller's transactions: the same decisions and queue limits at any concurrency. */
import { expect, it } from "vitest";
import { settleIn, type QueueLimits } from "../../src/ledger/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { openCall } from "./open-calls.ts";
import { addKey, addWorkspace, endingOf, reserveOne, setCap } from "./support.ts";
import { createLedger } from "../support/ledger.ts";

async function setUp(database: Database, creditNano: bigint, workspaces = ["w"]) {
  const ledger = createLedger(database);
  for (const id of workspaces) {
    await addWorkspace(database, id);
    await addKey(database, { workspaceId: id, id: `${id}-key`, createdBy: "m" });
    await ledger.credit({ workspaceId: id, amountNano: creditNano, reference: "start" });
  }
  return ledger;
}

const unlimited: QueueLimits = { global: 1_000_000, perWorkspace: 1_000_000 };

const hold = (id: string, workspaceId = "w") => ({
  id,
  workspaceId,
  keyId: `${workspaceId}-key`,
  keyRotation: 0,
  amountNano: 10n,
  leaseMs: 60_000,
  kind: "task" as const,
});

function reserveMany(
  database: Database,
  count: number,
  options: { workspaceOf?: (index: number) => string; queue?: QueueLimits } = {},
): Promise<string[]> {
  const { workspaceOf = () => "w", queue = unlimited } = options;
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      database.transaction((tx) => reserveOne(tx, hold(`t${index}`, workspaceOf(index)), queue)),
    ),
  );
}

const count = (outcomes: readonly string[], outcome: string) =>
  outcomes.filter((one) => one === outcome).length;

describeDatabase("the ledger in a transaction", (open) => {
  it("T63: exactly 200 of 500 simultaneous transactions reserve with credit for 200", async () => {
    const database = await open();
    const ledger = await setUp(database, 2_000n);
    const outcomes = await reserveMany(database, 500);
    expect(count(outcomes, "reserved")).toBe(200);
    expect(count(outcomes, "insufficient_balance")).toBe(300);
    expect((await ledger.balance("w")).availableNano).toBe(0n);
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("a queue limit is exact at any concurrency, per workspace and in total", async () => {
    const database = await open();
    const names = ["w", "x", "y"];
    const ledger = await setUp(database, 1_000_000n, names);
    const outcomes = await reserveMany(database, 300, {
      workspaceOf: (index) => names[index % 3]!,
      queue: { global: 70, perWorkspace: 30 },
    });
    expect(count(outcomes, "reserved")).toBe(70);
    expect(count(outcomes, "queue_full")).toBe(230);
    const rows = await database.query<{ workspace_id: string; n: bigint }>(
      "select workspace_id, count(*) as n from ledger_holds group by 1",
    );
    for (const { workspace_id, n } of rows) {
      expect(n).toBeLessThanOrEqual(30n);
      expect((await ledger.balance(workspace_id)).heldNano).toBe(n * 10n);
    }
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("the queue counts tasks and images but no text calls; other refusals come first; a repeated id keeps its place", async () => {
    const database = await open();
    const ledger = await setUp(database, 100n);
    const queue = { global: 2, perWorkspace: 2 };
    const reserve = (id: string, extra: object = {}) =>
      database.transaction((tx) => reserveOne(tx, { ...hold(id), ...extra }, queue));
    await openCall(ledger, hold("text"));
    expect(await reserve("a")).toBe("reserved");
    expect(await reserve("b", { kind: "image" })).toBe("reserved");
    expect(await reserve("c")).toBe("queue_full");
    expect(await reserve("a")).toBe("reserved");
    expect(await reserve("c", { amountNano: 71n })).toBe("insufficient_balance");
    expect(await reserve("c", { keyId: "nobody" })).toBe("key_unknown");
    await setCap(database, {
      layer: "workspace",
      workspaceId: "w",
      id: "w",
      window: "total",
      amountNano: 0n,
    });
    expect(await reserve("c")).toBe("workspace total 0");
    await setCap(database, {
      layer: "workspace",
      workspaceId: "w",
      id: "w",
      window: "total",
      amountNano: null,
    });
    await database.transaction((tx) => settleIn(tx, { id: "b", workspaceId: "w" }, null));
    expect(await reserve("c")).toBe("reserved");
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("a rolled-back reservation leaves nothing, and a repeated post or void returns the first result", async () => {
    const database = await open();
    const ledger = await setUp(database, 100n);
    const name = { id: "a", workspaceId: "w" };
    const gone = database.transaction(async (tx) => {
      await reserveOne(tx, hold("a"));
      throw new Error("not this time");
    });
    await expect(gone).rejects.toThrow("not this time");
    expect((await ledger.balance("w")).heldNano).toBe(0n);
    await database.transaction(async (tx) => {
      expect(await reserveOne(tx, hold("a"))).toBe("reserved");
    });
    await database.transaction(async (tx) => {
      expect(await settleIn(tx, name, 7n)).toMatchObject({ isNew: true, amountNano: 7n });
      expect(endingOf(await settleIn(tx, name, 7n))).toBe("already_posted");
      expect(endingOf(await settleIn(tx, name, null))).toBe("already_posted");
      expect(await settleIn(tx, { ...name, id: "b" }, null)).toBeUndefined();
    });
    expect(await ledger.balance("w")).toMatchObject({ availableNano: 93n, heldNano: 0n });
    expect(await verifyLedger(database)).toEqual([]);
  });
});

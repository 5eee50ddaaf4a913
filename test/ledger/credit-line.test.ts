/** Workspaces with a credit line or without limit: how far below zero text calls and holds may go. */
import { expect, it } from "vitest";
import { creditIn, settleIn } from "../../src/ledger/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { openCall, OpenCalls } from "./open-calls.ts";
import { addKey, addWorkspace, reserveOne, setCap, tamper } from "./support.ts";
import { createLedger } from "../support/ledger.ts";

const text = (id: string, amountNano: bigint) => ({
  id,
  workspaceId: "w",
  keyId: "k",
  keyRotation: 0,
  amountNano,
});
const task = (id: string, amountNano: bigint) => ({
  ...text(id, amountNano),
  kind: "task" as const,
  leaseMs: 60_000,
});

async function setUp(database: Database) {
  await addWorkspace(database, "w");
  await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
  return createLedger(database);
}

const setLine = (database: Database, lineNano: bigint | null) =>
  database.query("update workspaces set credit_line_nano = $1 where id = 'w'", [lineNano]);

describeDatabase("a credit line", (open) => {
  it("admits calls down to its limit, and no further", async () => {
    const database = await open();
    const ledger = await setUp(database);
    const calls = new OpenCalls(ledger);
    expect(await calls.begin(text("a", 1n))).toBe("insufficient_balance");
    await setLine(database, 100n);
    expect(await calls.begin(text("a", 60n))).toBe("reserved");
    await expect(openCall(ledger, text("b", 41n))).rejects.toMatchObject({
      code: "insufficient_balance",
      message: expect.stringContaining("the workspace has $0.00000004 available"),
    });
    expect(await reserveOne(database, task("t", 41n))).toBe("insufficient_balance");
    expect(await reserveOne(database, task("t", 40n))).toBe("reserved");
    await calls.end("a", 55n);
    await settleIn(database, { id: "t", workspaceId: "w" }, null);
    await expect
      .poll(() => ledger.balance("w"))
      .toEqual({
        creditsNano: 0n,
        chargedNano: 55n,
        heldNano: 0n,
        creditLineNano: 100n,
        availableNano: 45n,
      });
    await ledger.close();
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("fits into every sum of the ledger, together with the most credits that an account can have", async () => {
    const database = await open();
    const ledger = await setUp(database);
    const [creditsMax, lineMax] = [8n * 10n ** 18n, 10n ** 18n];
    await setLine(database, lineMax);
    await database.query("update ledger_accounts set credits_nano = $1", [creditsMax - 5n]);
    const credit = (reference: string, amountNano: bigint) =>
      database.transaction((tx) => creditIn(tx, { workspaceId: "w", amountNano, reference }));
    const refusal = { code: "invalid_value", status: 400, param: "amount" };
    await expect(credit("a", 6n)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining("at most $8000000000 together"),
    });
    expect(await credit("a", 5n)).toMatchObject({ outcome: "credited" });
    await expect(credit("b", 1n)).rejects.toMatchObject(refusal);
    expect(await credit("a", 5n)).toMatchObject({ outcome: "already_credited" });
    await expect(credit("c", 10n ** 16n)).rejects.toMatchObject(refusal);
    // Both kinds of admission, and reads, add up the largest possible amounts.
    const calls = new OpenCalls(ledger);
    expect(await calls.begin(text("r", 10n ** 16n))).toBe("reserved");
    expect(await reserveOne(database, task("t", 10n ** 16n))).toBe("reserved");
    await calls.end("r", 10n ** 16n);
    await settleIn(database, { id: "t", workspaceId: "w" }, 10n ** 16n);
    await expect
      .poll(() => ledger.balance("w"))
      .toMatchObject({
        creditsNano: creditsMax,
        heldNano: 0n,
        availableNano: creditsMax + lineMax - 2n * 10n ** 16n,
      });
    // Credits above the maximum, from before it existed, may be taken back.
    await database.query("update ledger_accounts set credits_nano = $1", [creditsMax + 9n]);
    expect(await credit("d", -1n)).toMatchObject({ outcome: "credited" });
    await ledger.close();
  });

  it("without a limit leaves only caps to stop calls", async () => {
    const database = await open();
    const ledger = await setUp(database);
    await setLine(database, null);
    const calls = new OpenCalls(ledger);
    expect(await calls.begin(text("a", 10n ** 15n))).toBe("reserved");
    expect(await reserveOne(database, task("t", 10n ** 15n))).toBe("reserved");
    await setCap(database, {
      layer: "workspace",
      workspaceId: "w",
      id: "w",
      window: "daily",
      amountNano: 5n * 10n ** 15n,
      hard: true,
    });
    expect(await reserveOne(database, task("u", 4n * 10n ** 15n))).toMatch(/^workspace daily /);
    expect(await calls.begin(text("b", 4n * 10n ** 15n))).toBe("cap_reached");
    expect(await calls.begin(text("c", 2n * 10n ** 15n))).toBe("reserved");
    await ledger.close();
  });

  it("without a limit ends where the ledger's integers end: calls are refused with 402 before any work", async () => {
    const database = await open();
    const ledger = await setUp(database);
    await setLine(database, null);
    const charged = 9n * 10n ** 18n - 100n;
    await tamper(database, "update ledger_accounts set charged_nano = $1", [charged]);
    const calls = new OpenCalls(ledger);
    await expect(openCall(ledger, text("a", 101n))).rejects.toMatchObject({
      code: "insufficient_balance",
      status: 402,
    });
    expect(await reserveOne(database, task("t", 101n))).toBe("insufficient_balance");
    expect(await calls.begin(text("b", 60n))).toBe("reserved");
    // As always, the cost above the bound is charged too.
    await calls.end("b", 10n ** 15n);
    expect(await ledger.balance("w")).toMatchObject({ chargedNano: charged + 10n ** 15n });
    expect(await calls.begin(text("c", 1n))).toBe("insufficient_balance");
    await ledger.close();
  });
});

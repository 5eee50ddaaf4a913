/** `spend` around a text call's work: each call is settled once, whatever the work returns or throws. BILL; docs/ledger.md. */
import { expect, it } from "vitest";
import { verifyLedger } from "../../src/verification/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { addKey, addWorkspace } from "./support.ts";
import { createLedger } from "../support/ledger.ts";

const call = { workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 100n };

async function setUp(database: Database) {
  await addWorkspace(database, "w");
  await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
  const ledger = createLedger(database);
  await ledger.credit({ workspaceId: "w", amountNano: 10_000n, reference: "start" });
  return ledger;
}

const entriesOf = (database: Database) =>
  database.query<{ reference: string; kind: string; amount_nano: bigint }>(
    "select reference, kind, amount_nano from ledger_entries where kind <> 'credit' order by reference",
  );

describeDatabase("`spend` around a call's work", (open) => {
  it("BILL-01 T65: charges what the work returns, when it is over, and passes on its result", async () => {
    const database = await open();
    const ledger = await setUp(database);
    const done = await ledger.spend({ ...call, id: "a" }, async () => {
      expect((await ledger.balance("w")).heldNano).toBeGreaterThanOrEqual(100n);
      expect(await entriesOf(database)).toEqual([]);
      return { amountNano: 30n, text: "Hello" };
    });
    expect(done).toEqual({ amountNano: 30n, text: "Hello" });
    expect(await entriesOf(database)).toEqual([
      { reference: "a", kind: "charge", amount_nano: 30n },
    ]);
    await ledger.close();
    expect(await ledger.balance("w")).toMatchObject({ heldNano: 0n, chargedNano: 30n });
  });

  it("T65: charges and holds nothing if the work throws, or returns null or an invalid amount", async () => {
    const database = await open();
    const ledger = await setUp(database);
    const broken = new Error("the vendor broke off");
    const throwing = () => {
      throw broken;
    };
    await expect(ledger.spend({ ...call, id: "a" }, throwing)).rejects.toBe(broken);
    await expect(ledger.spend({ ...call, id: "b" }, () => Promise.reject(broken))).rejects.toBe(
      broken,
    );
    await ledger.spend({ ...call, id: "c" }, () => Promise.resolve({ amountNano: null }));
    for (const [id, amountNano] of [
      ["d", -1n],
      ["e", 10n ** 17n],
    ] as const)
      await expect(
        ledger.spend({ ...call, id }, () => Promise.resolve({ amountNano })),
      ).rejects.toThrow("amount out of range");
    // Each void was written before `spend` rejected.
    expect(await entriesOf(database)).toEqual(
      ["a", "b", "c", "d", "e"].map((reference) => ({ reference, kind: "void", amount_nano: 0n })),
    );
    await ledger.close();
    expect(await ledger.balance("w")).toMatchObject({ heldNano: 0n, chargedNano: 0n });
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("BILL-23: does no work for a refused call", async () => {
    const database = await open();
    const ledger = await setUp(database);
    const work = () => expect.fail("it was let in");
    const refusals = [
      [{ ...call, amountNano: 10_001n }, "insufficient_balance"],
      [{ ...call, keyId: "none" }, "invalid_api_key"],
    ] as const;
    for (const [input, code] of refusals)
      await expect(ledger.spend({ ...input, id: "a" }, work)).rejects.toMatchObject({ code });
    await expect(ledger.spend({ ...call, id: "a", amountNano: -1n }, work)).rejects.toThrow(
      "amount out of range",
    );
    await ledger.close();
    expect(await entriesOf(database)).toEqual([]);
  });

  it("T63 T65: writes one entry for each of a thousand simultaneous calls, however they end", async () => {
    const database = await open();
    const ledger = await setUp(database);
    const ends = await Promise.allSettled(
      Array.from({ length: 1_000 }, (_, index) =>
        ledger.spend({ ...call, amountNano: 10n, id: `r${index}` }, async () => {
          for (let turn = 0; turn < index % 7; turn += 1)
            await new Promise((resume) => setImmediate(resume));
          if (index % 5 === 0) throw new Error("the vendor broke off");
          return { amountNano: index % 5 === 1 ? null : BigInt(index % 12) };
        }),
      ),
    );
    const charged = ends.reduce(
      (sum, end) => sum + ((end.status === "fulfilled" && end.value.amountNano) || 0n),
      0n,
    );
    const entries = await entriesOf(database);
    expect(entries).toHaveLength(1_000);
    expect(new Set(entries.map(({ reference }) => reference)).size).toBe(1_000);
    expect(entries.filter(({ kind }) => kind === "void")).toHaveLength(400);
    await ledger.close();
    expect(await ledger.balance("w")).toMatchObject({ heldNano: 0n, chargedNano: charged });
    expect(await verifyLedger(database)).toEqual([]);
  });
});

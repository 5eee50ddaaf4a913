/** A lane that restores reports what its running calls use, and counts no entry twice. docs/ledger.md "Batches". */
import { expect, it } from "vitest";
import { sendTo, type Batch } from "../../src/ledger/batch.ts";
import { systemLaneClock } from "../../src/ledger/lane.ts";
import { TextCalls } from "../../src/ledger/text-calls.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { createLedger } from "../support/ledger.ts";
import { describeDatabase } from "../support/postgres.ts";
import { addKey, addWorkspace } from "./support.ts";

const lost = () => Object.assign(new Error("Connection terminated"), { code: "ECONNRESET" });

describeDatabase("a lane that restores reservations", (open) => {
  it("T65: reserves nothing again for an entry that was written but not confirmed, when its workspace moves to another lane", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
    const credit = { workspaceId: "w", amountNano: 30n, reference: "start" };
    await createLedger(database).credit(credit);
    let unlock = (): void => undefined;
    let locks: Promise<void> | undefined;
    const isBegun = Promise.withResolvers<void>();
    /** Charged plus held after each batch that restored, if something was charged. */
    const taken: bigint[] = [];
    const send = async (batch: Batch) => {
      const rows = await sendTo(database)(batch);
      if (batch.targets.some(({ entries }) => entries.length > 0) && locks === undefined) {
        // The entry is written, but its answer is lost. Another transaction locks the account before it is sent again.
        locks = database.transaction(async (tx) => {
          await tx.query("select 1 from ledger_accounts where workspace_id = 'w' for update", []);
          isBegun.resolve();
          await new Promise<void>((resolve) => (unlock = resolve));
        });
        await isBegun.promise;
        throw lost();
      }
      if (rows.some(({ refusal }) => refusal === "busy")) unlock();
      if (batch.restore && locks !== undefined) {
        const sql = "select charged_nano + held_nano as taken from ledger_accounts";
        const [row] = await database.query<{ taken: bigint }>(sql, []);
        taken.push(row!.taken);
      }
      return rows;
    };
    const calls = new TextCalls({ leaseMs: 60_000, send, clock: systemLaneClock });
    const call = { id: "c", workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 20n };
    await calls.spend(call, () => Promise.resolve({ amountNano: 20n }));
    await locks;
    expect(taken).toEqual([20n]);
    expect(await verifyLedger(database)).toEqual([]);
  });
});

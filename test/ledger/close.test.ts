/** A gateway that stops returns the allowances of all its lanes. docs/ledger.md "Batches". */
import { expect, it } from "vitest";
import type { BatchWatch } from "../../src/ledger/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { createLedger } from "../support/ledger.ts";
import { describeDatabase } from "../support/postgres.ts";
import { openCall } from "./open-calls.ts";
import { addKey, addWorkspace } from "./support.ts";

describeDatabase("a closed ledger", (open) => {
  it("T65: leaves nothing held after an account was locked elsewhere and got a lane of its own", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
    const unlock = Promise.withResolvers<void>();
    const lanes = new Set<number>();
    const watch: BatchWatch = ({ lane }) => {
      lanes.add(lane);
      if (lane > 1) unlock.resolve();
    };
    const ledger = createLedger(database, { watch });
    await ledger.credit({ workspaceId: "w", amountNano: 1_000_000n, reference: "start" });
    const call = { workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 20n };
    const running = await openCall(ledger, { ...call, id: "a" });
    const isLocked = Promise.withResolvers<void>();
    const locks = database.transaction(async (tx) => {
      await tx.query("select 1 from ledger_accounts where workspace_id = 'w' for update");
      isLocked.resolve();
      await unlock.promise;
    });
    await isLocked.promise;
    await running.end(7n);
    await locks;
    expect([...lanes]).toEqual([1, 2]);
    await ledger.spend({ ...call, id: "b" }, () => Promise.resolve({ amountNano: 7n }));
    await ledger.close();
    expect(await ledger.balance("w")).toMatchObject({ heldNano: 0n, chargedNano: 14n });
    expect(await verifyLedger(database)).toEqual([]);
  });

  it("T65: leaves nothing held if the connection breaks during the last return", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
    const broken: string[] = [];
    const breaking: Database = {
      ...database,
      transaction: (work, ...rest) =>
        database.transaction(
          (tx) =>
            work({
              query: (sql, ...given) => {
                if (broken.includes(sql)) return tx.query(sql, ...given);
                broken.push(sql);
                return Promise.reject(new Error("Connection terminated unexpectedly"));
              },
            }),
          ...rest,
        ),
    };
    const ledger = createLedger(breaking);
    await ledger.credit({ workspaceId: "w", amountNano: 1_000_000n, reference: "start" });
    const call = { id: "a", workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 20n };
    await ledger.spend(call, () => Promise.resolve({ amountNano: 7n }));
    await ledger.close();
    expect(broken).toHaveLength(2);
    expect(await createLedger(database).balance("w")).toMatchObject({
      heldNano: 0n,
      chargedNano: 7n,
    });
  });
});

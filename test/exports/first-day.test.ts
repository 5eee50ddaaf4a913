/** The first day of the ledger is found by an index, however long the ledger is. docs/data.md "Exports". */
import { expect, it } from "vitest";
import { exportNext, openExportPlace } from "../../src/exports/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase, temporaryDirectory } from "../support/postgres.ts";

describeDatabase("the first export of the ledger", (open) => {
  it("does not read every entry to find the oldest", async () => {
    const database = await open();
    const asked: string[] = [];
    const watched: Database = {
      ...database,
      transaction: (work, options) =>
        database.transaction(
          (tx) =>
            work({
              query(sql, ...more) {
                asked.push(sql);
                return tx.query(sql, ...more);
              },
            }),
          options,
        ),
    };
    const place = await openExportPlace({ to: temporaryDirectory() });
    expect(await exportNext(watched, place, "ledger")).toBeUndefined();
    const plan = await database.transaction(async (tx) => {
      await tx.query("set local enable_seqscan = off");
      return tx.query(`explain ${asked.find((sql) => sql.includes("ledger_entries"))}`);
    });
    expect(JSON.stringify(plan)).toContain("ledger_entries_in_order");
  });
});

/** Pages of a long ledger, read while calls are charged. docs/management.md. */
import { expect, it } from "vitest";
import { readEntries } from "../../src/admin/reads/entries.ts";
import type { Queryable } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";

const scanned = 50_000;

describeDatabase("a long ledger", (open) => {
  it("has each entry of a rare filter once, although others are charged between its statements", async () => {
    const database = await open();
    let charged = 0;
    const charge = async (key: string, count = 1): Promise<void> => {
      await database.query(
        `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
         select 'w', 'r' || $1 + n, 'charge', 1, 1, 0, $2, now() from generate_series(1, $3::integer) n order by n`,
        [charged, key, count],
      );
      charged += count;
    };
    await charge("rare");
    await charge("busy", scanned - 1);
    const underLoad: Queryable = {
      async query(...statement) {
        const rows = await database.query<never>(...statement);
        await charge("busy");
        return rows;
      },
    };
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await readEntries(underLoad, "w", { keyId: "rare", limit: 10, cursor });
      found.push(...page.entries.map(({ reference }) => reference));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(["r1"]);
  });
});

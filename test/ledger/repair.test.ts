/** A database whose accounts an earlier ledger left wrong is put right by migration 0017, which then keeps them from it. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createLedger, verifyLedger } from "../../src/ledger/index.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { addKey, addWorkspace } from "./support.ts";

const folder = new URL("../../src/storage/migrations/", import.meta.url);

/** A new database with the schema as it was before the migration of this number. */
async function openBefore(number: string): Promise<Database> {
  const url = await (await sharedPostgres()).createDatabase();
  const database = await openDatabase({ url, log: silentLog });
  await database.query(
    "create table schema_migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())",
  );
  for (const name of readdirSync(folder).sort()) {
    if (name >= number) break;
    const sql = readFileSync(new URL(name, folder), "utf8");
    await database.query(sql);
    await database.query("insert into schema_migrations (name, checksum) values ($1, $2)", [
      name,
      createHash("sha256").update(sql).digest("hex"),
    ]);
  }
  return database;
}

it("T65: what is held is the sum of the open holds again, and cannot become negative", async () => {
  const database = await openBefore("0017");
  try {
    for (const id of ["negative", "much", "right", "none"]) {
      await addWorkspace(database, id);
      await addKey(database, { workspaceId: id, id: "k", createdBy: "m" });
    }
    const hold = (workspaceId: string, id: string, amountNano: bigint) =>
      database.query(
        `insert into ledger_holds (workspace_id, id, key_id, kind, amount_nano, lease_until, created_at, calls)
         values ($1, $2, 'k', 'text', $3, now() + interval '1 hour', now(), 2)`,
        [workspaceId, id, amountNano],
      );
    await hold("negative", "a", 30n);
    await hold("negative", "b", 12n);
    await hold("much", "c", 5n);
    await hold("right", "d", 7n);
    await database.query(
      `update ledger_accounts set held_nano = case workspace_id
         when 'negative' then -4000 when 'much' then 900 when 'right' then 7 else -1 end`,
    );
    expect(await verifyLedger(database)).toHaveLength(3);

    const { applied } = await migrate(database);
    expect(applied[0]).toMatch(/^0017_/);
    expect(
      await database.query("select workspace_id, held_nano from ledger_accounts order by 1", []),
    ).toEqual([
      { workspace_id: "much", held_nano: 5n },
      { workspace_id: "negative", held_nano: 42n },
      { workspace_id: "none", held_nano: 0n },
      { workspace_id: "right", held_nano: 7n },
    ]);
    expect(await verifyLedger(database)).toEqual([]);
    await expect(
      database.query("update ledger_accounts set held_nano = -1 where workspace_id = 'right'"),
    ).rejects.toThrow(/ledger_accounts_held_nano_check/);

    // The holds end with their leases, as they would have.
    await database.query("update ledger_holds set lease_until = now()");
    expect(await createLedger(database, systemClock).expireHolds()).toBe(8);
    expect(await verifyLedger(database)).toEqual([]);
  } finally {
    await database.close();
  }
});

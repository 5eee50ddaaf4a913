/** A database of the earlier ledger, with every kind of open hold in it, is carried over by migration 0021, to the last nano-dollar. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readSpend } from "../../src/admin/index.ts";
import { silentLog } from "../../src/base/log.ts";
import { createLedger, settleIn } from "../../src/ledger/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
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

/** Fills it by the functions that the earlier version called, at moments from last month to now. */
async function fill(database: Database): Promise<void> {
  for (const id of ["w", "idle"]) {
    await addWorkspace(database, id);
    await addKey(database, { workspaceId: id, id: "k", createdBy: "m" });
    await addKey(database, { workspaceId: id, id: "l" });
    await database.query(
      "select ledger_credit($1, 1000000, 'start', null, now() - interval '40 days')",
      [id],
    );
  }
  const reserve = (...[id, key, amount, kind, ago]: [string, string, number, string, string]) =>
    database.query(
      `select * from ledger_reserve(array[$1], array['w'], array[$2], array[$3::bigint], array[60000::bigint], array[$4],
         now() - $5::interval)`,
      [id, key, amount, kind, ago],
    );
  const end = (id: string, amount: number, kind: string, ago: string) =>
    database.query(
      "select * from ledger_resolve(array[$1], array['w'], array[$2::bigint], $3, now() - $4::interval)",
      [id, amount, kind, ago],
    );
  for (const [index, ago] of ["39 days", "8 days", "1 day", "1 second", "0"].entries()) {
    for (const key of ["k", "l"]) {
      await reserve(`${key}${index}`, key, 100, "text", ago);
      await end(`${key}${index}`, 10 + index, "charge", ago);
    }
  }
  await reserve("nothing", "k", 5, "text", "0");
  await end("nothing", 0, "charge", "0");
  await reserve("over", "k", 5, "text", "0");
  await end("over", 0, "void", "0");
  // Open: a task, an image, a text call with a row of its own, and two pools.
  await reserve("task", "k", 1000, "task", "0");
  await reserve("image", "l", 200, "image", "0");
  await reserve("image-dead", "l", 300, "image", "10 minutes");
  await reserve("text", "k", 40, "text", "0");
  for (const [pool, key, batch] of [
    ["pool-k", "k", 1],
    ["pool-l", "l", 2],
  ] as const)
    await database.query(
      `select * from ledger_pool_turn(now(), 'w', $1, 0, $2, '{}', '{}', '{}', '{}', null, 0, true, 77, 7, 60000, $3)`,
      [key, pool, batch],
    );
}

it("T65: money, counters, entries and open holds are carried over, and what was open ends as the earlier ledger promised", async () => {
  const database = await openBefore("0021");
  try {
    await fill(database);
    const before = await database.query(
      "select workspace_id, credits_nano, charged_nano, held_nano from ledger_accounts order by 1",
    );
    const entries = await database.query("select * from ledger_entries order by entry");
    const { applied } = await migrate(database);
    expect(applied[0]).toMatch(/^0021_/);
    expect(
      await database.query(
        "select workspace_id, credits_nano, charged_nano, held_nano from ledger_accounts order by 1",
      ),
    ).toEqual(before);
    expect(await database.query("select * from ledger_entries order by entry")).toEqual(entries);
    expect(await verifyLedger(database)).toEqual([]);

    const ledger = createLedger(database);
    expect(await readSpend(database, "w", { layer: "key", id: "k" })).toMatchObject({
      total: 60n,
      heldNano: 1117n,
    });
    expect((await ledger.balance("w")).heldNano).toBe(1694n);
    // A task that goes on is charged under its hold.
    expect(await settleIn(database, { workspaceId: "w", id: "task" }, 900n)).toMatchObject({
      outcome: "posted",
    });
    // What was abandoned comes back with its lease, by one entry; an image that was made after all is charged late.
    expect(await ledger.expire()).toBe(1);
    expect(await settleIn(database, { workspaceId: "w", id: "image-dead" }, 250n)).toMatchObject({
      outcome: "posted",
      isLate: true,
    });
    await database.query("update ledger_holds set lease_until = now()");
    expect(await ledger.expire()).toBe(4);
    expect(await ledger.balance("w")).toMatchObject({ heldNano: 0n, chargedNano: 1270n });
    expect(await verifyLedger(database)).toEqual([]);
    // And the new one goes on with them.
    await ledger.reserve({ id: "new", workspaceId: "w", keyId: "k", amountNano: 10n });
    await ledger.post({ id: "new", workspaceId: "w", amountNano: 7n });
    await ledger.close();
    expect(await ledger.balance("w")).toMatchObject({ heldNano: 0n, chargedNano: 1277n });
    expect(await verifyLedger(database)).toEqual([]);
  } finally {
    await database.close();
  }
});

it("an account's held and an entry cannot be made wrong by a statement", async () => {
  const database = await openDatabase({
    url: await (await sharedPostgres()).createMigrated(),
    log: silentLog,
  });
  try {
    await addWorkspace(database, "w");
    await createLedger(database).credit({ workspaceId: "w", amountNano: 5n, reference: "r" });
    await expect(database.query("update ledger_accounts set held_nano = -1")).rejects.toThrow(
      /held_nano/,
    );
    await expect(database.query("update ledger_entries set amount_nano = 6")).rejects.toThrow(
      /never changed/,
    );
    await expect(database.query("delete from ledger_entries")).rejects.toThrow(/never changed/);
  } finally {
    await database.close();
  }
});

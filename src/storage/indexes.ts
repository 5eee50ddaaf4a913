/**
 * Indexes of tables that may be large by the time a version brings them: made beside the calls, which go on reading and writing, and not in
 * a migration, whose transaction would hold all writers up. Until one is there, what it serves is as slow as before. docs/architecture.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import { clientQueries, type Database } from "./database.ts";
import type { Queryable } from "./queryable.ts";

/** By name: what stands behind `create index concurrently <name>`. */
export const laterIndexes: Readonly<Record<string, string>> = {
  tasks_by_model: "on tasks (workspace_id, model, id desc)",
  // Of all workspaces together: the key begins with the workspace, so a month was found by reading all months.
  usage_days_by_day:
    "on usage_days using brin (day) with (pages_per_range = 32, autosummarize = on)",
  // Each second it is looked whose claims those are: without it all callbacks are read that wait, as behind a receiver that is slow.
  webhook_deliveries_claimed: "on webhook_deliveries (lease_until) where lease_token is not null",
};

/** One process of all makes them. Any number that nothing else in the database locks. */
const lockKey = 7_409_318_200_451n;
/** How often it is looked whether the work is to be given up. */
const lookMs = 100;

/** Those that are not there, or not whole: a building that was broken off leaves one that nothing reads. */
async function missing(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select n.name from unnest($1::text[]) with ordinality n (name, place)
     where not exists (select from pg_index i where i.indexrelid = to_regclass(n.name) and i.indisvalid) order by n.place`,
    [Object.keys(laterIndexes)],
  );
  return rows.map(({ name }) => name);
}

async function make(client: PoolClient, goesOn: () => boolean): Promise<string[]> {
  const session = clientQueries(client);
  const made: string[] = [];
  const [lock] = await session.query<{ mine: boolean }>("select pg_try_advisory_lock($1) as mine", [
    lockKey,
  ]);
  if (lock?.mine !== true) return made;
  // It reads the whole table, and waits for transactions that began before it.
  await session.query("set statement_timeout = 0");
  for (const name of await missing(session)) {
    if (!goesOn()) break;
    await session.query(`drop index concurrently if exists ${name}`);
    await session.query(`create index concurrently ${name} ${laterIndexes[name]}`);
    made.push(name);
  }
  return made;
}

/** Makes those that are missing. @returns the names of those that were made; they may still be made after the work was given up */
export async function makeIndexes(
  database: Database,
  goesOn: () => boolean = () => true,
): Promise<readonly string[]> {
  if ((await missing(database)).length === 0) return [];
  const client = await database.pool.connect();
  const making = make(client, goesOn);
  try {
    for (;;) {
      const made = await Promise.race([making, sleep(lookMs)]);
      if (made !== undefined) return made;
      if (!goesOn()) return [];
    }
  } finally {
    making.catch(() => undefined);
    // With the connection its lock and its setting go. The server ends a building that is under way by itself.
    client.release(true);
  }
}

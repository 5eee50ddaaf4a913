/**
 * Indexes of tables that may be large by the time a version adds them. They are built while calls read and write. A migration would block
 * all writers for its whole transaction. Until an index exists, its queries are as slow as before. docs/architecture.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import { clientQueries, type Database } from "./database.ts";
import type { Queryable } from "./queryable.ts";

/** By name: the rest of `create index concurrently <name>`. */
export const laterIndexes: Readonly<Record<string, string>> = {
  tasks_by_model: "on tasks (workspace_id, model, id desc)",
  // For queries over all workspaces: the primary key begins with the workspace, so that one month needed a scan of all months.
  usage_days_by_day:
    "on usage_days using brin (day) with (pages_per_range = 32, autosummarize = on)",
  // Each second a query checks the holders of these claims. Without the index it reads all waiting callbacks, many behind a slow receiver.
  webhook_deliveries_claimed: "on webhook_deliveries (lease_until) where lease_token is not null",
};

/** Lets only one process build them. Any number that nothing else in the database locks. */
const lockKey = 7_409_318_200_451n;
/** Milliseconds between checks whether to give up. */
const lookMs = 100;

/** Returns the indexes that are missing or invalid: an interrupted build leaves one that no query uses. */
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
  // The build reads the whole table, and waits for transactions that began before it.
  await session.query("set statement_timeout = 0");
  for (const name of await missing(session)) {
    if (!goesOn()) break;
    await session.query(`drop index concurrently if exists ${name}`);
    await session.query(`create index concurrently ${name} ${laterIndexes[name]}`);
    made.push(name);
  }
  return made;
}

/** Builds the missing indexes. @returns the names of those that were made; they may still be made after the work was given up */
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
    // Closing the connection releases its lock and its setting. The server finishes a build in flight by itself.
    client.release(true);
  }
}

/** Finds out whether a server keeps acknowledged commits when the power fails. docs/database.md "PostgreSQL". */
import type { Queryable } from "./queryable.ts";

/** Each is on by default. Operators turn them off to make a server faster. */
const durable = ["fsync", "full_page_writes", "synchronous_commit"];

/** Returns those of these settings that are off for this user: without them a power failure loses charges. */
export async function settingsOff(database: Queryable): Promise<readonly string[]> {
  const rows = await database.query<{ name: string }>(
    "select name from pg_settings where name = any($1) and setting = 'off' order by name",
    [durable],
  );
  return rows.map(({ name }) => name);
}

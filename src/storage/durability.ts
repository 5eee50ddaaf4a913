/** Whether a server keeps what it acknowledged when the power fails. docs/operate.md "PostgreSQL". */
import type { Queryable } from "./queryable.ts";

/** On by default, each of them; turned off by people who make a server faster. */
const durable = ["fsync", "full_page_writes", "synchronous_commit"];

/** Those of the server's settings that are off, as they hold for this user, and without which a power failure takes charges. */
export async function settingsOff(database: Queryable): Promise<readonly string[]> {
  const rows = await database.query<{ name: string }>(
    "select name from pg_settings where name = any($1) and setting = 'off' order by name",
    [durable],
  );
  return rows.map(({ name }) => name);
}

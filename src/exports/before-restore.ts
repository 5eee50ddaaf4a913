/**
 * Export files from before the database was restored from a backup. They hold calls made between the backup and the restore, which
 * no database has any more. So a smaller file never overwrites them. docs/data.md "Exports".
 */
import type { FileStore } from "../files/index.ts";
import type { Queryable } from "../storage/index.ts";
import { fileOf, type Day } from "./day.ts";

/** Returns the existing file of a day that was over before the last restore. Undefined if the day may be written. */
export async function fileBeforeRestore(
  tx: Queryable,
  place: FileStore,
  day: Day,
): Promise<{ readonly file: string; readonly bytes: number } | undefined> {
  const rows = await tx.query(
    `select 1 from settings where name = 'restored_at'
       and (value #>> '{}')::timestamptz >= ($1::date + 1)::timestamp at time zone 'UTC'`,
    [day.day],
  );
  if (rows.length === 0) return undefined;
  const file = fileOf(day);
  const bytes = await place.size(file);
  return bytes === undefined ? undefined : { file, bytes };
}

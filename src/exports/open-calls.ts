/** Computes until when the request log is complete: open calls may still be written. docs/data.md "Exports". */
import { idMs } from "../base/ids.ts";
import type { Queryable } from "../storage/index.ts";

/** A gateway not seen for this long has ended, and its calls with it. */
const lostAfter = "interval '1 hour'";
/** Longer than the row of an ended call waits for a database that is away (src/request-log/writer.ts). */
const writtenAfter = "interval '1 minute'";

/**
 * The oldest call that is not recorded yet. Holds show images and tasks; tasks count until their last step; gateways report all
 * other calls. Gateways of an older release report nothing: their calls last three hours at most. A call whose entry is new may still
 * be on its way to the log.
 */
const closedSql = `
  select least(id_time(now() - $1::integer * interval '1 second'),
    (select min(left(split_part(id, '_', 2), 10)) from ledger_holds),
    (select min(left(split_part(id, '_', 2), 10)) from tasks where due_at is not null),
    (select min(left(split_part(reference, '_', 2), 10)) from ledger_entries
      where created_at > now() - ${writtenAfter} and reference ~ '^(req|task)_[0-9a-z]{26}'),
    (select min(coalesce(calls_since, id_time(now() - interval '3 hours'))) from gateways
      where last_seen_at > now() - ${lostAfter})) as closed`;

/** Returns the time in ms before which every call is in the log; at the latest `marginSeconds` before now. */
export async function closedMs(tx: Queryable, marginSeconds: number): Promise<number> {
  const [row] = await tx.query<{ closed: string }>(closedSql, [marginSeconds]);
  return idMs(row!.closed) ?? 0;
}

/** Until when the request log is whole: which calls may still be written. docs/operate.md "Exports". */
import { idMs } from "../base/ids.ts";
import type { Queryable } from "../storage/index.ts";

/** A process that was not heard of for so long has ended, and its calls with it. */
const lostAfter = "interval '1 hour'";

/**
 * The calls that are not recorded yet: images and tasks by their holds, tasks until their last step, all others as their gateways tell. A
 * gateway of a release that tells nothing has calls of three hours at most.
 */
const closedSql = `
  select least(id_time(now() - $1::integer * interval '1 second'),
    (select min(left(split_part(id, '_', 2), 10)) from ledger_holds),
    (select min(left(split_part(id, '_', 2), 10)) from tasks where due_at is not null),
    (select min(coalesce(calls_since, id_time(now() - interval '3 hours'))) from gateways
      where last_seen_at > now() - ${lostAfter})) as closed`;

/** The time before which every call is in the log, in milliseconds; `marginSeconds` before now at the latest. */
export async function closedMs(tx: Queryable, marginSeconds: number): Promise<number> {
  const [row] = await tx.query<{ closed: string }>(closedSql, [marginSeconds]);
  return idMs(row!.closed) ?? 0;
}

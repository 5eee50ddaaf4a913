/**
 * Which ids of the log a question can be about. The log is kept in parts by the time of ids (storage/baseline/10_request_parts.sql). A plan has
 * only the parts that its parameters allow, so a question that says so costs the same however many there are.
 */
import { idMs } from "../base/ids.ts";
import type { Queryable } from "../storage/index.ts";

/** A condition on a column of ids. */
export type LogIds = (column: string) => string;

/** A call is charged so long after its id was made at the latest: the longest tasks, and what is settled days later. */
export const callMsMax = 4 * 24 * 3_600_000;

/** Ids that were made from `low` on: an expression of the part of an id that tells its time. */
export const idsFrom =
  (low: string): LogIds =>
  (column) =>
    `(${column} >= 'req_' || ${low}::text and ${column} < 'task_' or ${column} >= 'task_' || ${low}::text)`;

/** Ids that were made from `low` up to `high`, expressions as of {@link idsFrom}. */
export const idsWithin =
  (low: string, high: string): LogIds =>
  (column) =>
    `(${column} >= 'req_' || ${low}::text and ${column} < 'req_' || ${high}::text
      or ${column} >= 'task_' || ${low}::text and ${column} < 'task_' || ${high}::text)`;

/** So many calls are looked at; of more it is not known how old they are. A day for those that end meanwhile. */
const waitingMax = 20_000;

const timeOf = (id: string): string => `min(left(split_part(${id}, '_', 2), 10))`;

const lowSql = `
  select case when greatest(p.n, u.n, e.n) > ${waitingMax} then '' else least(p.low, u.low, e.low, id_time(now() - interval '1 day')) end as low,
    (select id_time from request_log_start) as start
  from (select count(*) as n, ${timeOf("y.id")} as low from (select id from usage_pending limit ${waitingMax + 1}) y) p,
    (select count(*) as n, ${timeOf("y.id")} as low from (select id from usage_unattributed limit ${waitingMax + 1}) y) u,
    (select count(*) as n, ${timeOf("y.reference")} as low from (
      select x.reference from ledger_accounts a left join usage_folds f on f.workspace_id = a.workspace_id
      cross join lateral (select e.reference, e.kind from ledger_entries e where e.workspace_id = a.workspace_id
        and e.entry > 0 and e.entry > coalesce(f.entry, 0) order by e.entry limit ${waitingMax + 1}) x
      where x.kind = 'charge' limit ${waitingMax + 1}) y) e`;

/** What is known of the log before it is asked. */
interface LogBounds {
  /** The time of the oldest row that what is not in the sums yet may be about, as in an id; empty where that is not known. */
  readonly low: string;
  /** Rows from before that time were dropped; undefined where none were. */
  readonly startMs: number | undefined;
}

export async function logBounds(database: Queryable): Promise<LogBounds> {
  const [row] = await database.query<{ low: string; start: string | null }>(lowSql, []);
  return { low: row?.low ?? "", startMs: row?.start == null ? undefined : idMs(row.start) };
}

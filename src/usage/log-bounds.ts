/**
 * Which ids of the log a question can be about. The log is kept in parts by the time of ids (storage/baseline/10_request_parts.sql). A plan has
 * only the parts that its parameters allow, so a question that says so costs the same however many there are.
 */
import { dayMs } from "../base/durations.ts";
import { idMs } from "../base/ids.ts";
import type { Queryable } from "../storage/index.ts";

/** A condition on a column of ids. */
export type LogIds = (column: string) => string;

/** A call is charged so long after its id was made at the latest: the longest tasks, and what is settled days later. */
export const callMsMax = 4 * dayMs;

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
const waitingMax = 100_000;

/** The oldest time of ids, as in them. */
export const timeOf = (id: string): string => `min(left(split_part(${id}, '_', 2), 10))`;

/** How many calls a query has, and the oldest time of their ids. */
const oldestSql = (ids: string): string =>
  `(select count(*) as n, ${timeOf("y.id")} as low from (${ids} limit ${waitingMax + 1}) y)`;

/** The oldest of these tables, of a day at least; empty where one has too many. `more`: a time that is known already. */
const lowOf = (names: readonly string[], more = ""): string => {
  const of = (column: string): string => names.map((name) => `${name}.${column}`).join(", ");
  return `case when greatest(${of("n")}) > ${waitingMax} then '' else least(${of("low")}, id_time(now() - interval '1 day')${more}) end`;
};

const pending = oldestSql("select id from usage_pending");
const unattributed = oldestSql("select id from usage_unattributed");

/** Whether a workspace is asked for; without parameter all are. */
const isAsked = (workspace: string): string =>
  `($1::text[] is null or ${workspace} = any($1::text[]))`;
const newEntries = `
  select x.reference as id from ledger_accounts a left join usage_folds f on f.workspace_id = a.workspace_id
  cross join lateral (select e.reference, e.kind from ledger_entries e where e.workspace_id = a.workspace_id
    and e.entry > 0 and e.entry > coalesce(f.entry, 0) order by e.entry limit ${waitingMax + 1}) x
  where x.kind = 'charge' and ${isAsked("a.workspace_id")}`;

/** Since then sums have every count. Gateways of before may add to them for a while; a day for that. */
const countsMigration = "0054_kept_prices.sql";

const lowSql = `
  select ${lowOf(["p", "u", "e"])} as low, (select id_time from request_log_start) as start,
    (select applied_at + interval '1 day' from schema_migrations where name = '${countsMigration}') as whole_since
  from ${oldestSql(`select id from usage_pending where ${isAsked("workspace_id")}`)} p,
    ${oldestSql(`select id from usage_unattributed where ${isAsked("workspace_id")}`)} u, ${oldestSql(newEntries)} e`;

const waitingSql = `
  select ${lowOf(["p", "u"], ", $1::text")} as low from ${pending} p, ${unattributed} u`;

/** What is known of the log before it is asked. */
export interface LogBounds {
  /** The time of the oldest row that what is not in the sums yet may be about, as in an id; empty where that is not known. */
  readonly low: string;
  /** Rows from before that time were dropped; undefined where none were. */
  readonly startMs: number | undefined;
  /** Sums of hours from before lack counts that rows of the log have. */
  readonly wholeSince: Date | undefined;
}

/** Of what is not in the sums of some workspaces; undefined: of all. */
export async function logBounds(
  database: Queryable,
  workspaceIds?: readonly string[],
): Promise<LogBounds> {
  const params = [workspaceIds ?? null];
  const [row] = await database.query<{
    low: string;
    start: string | null;
    whole_since: Date | null;
  }>(lowSql, params);
  return {
    low: row?.low ?? "",
    startMs: row?.start == null ? undefined : idMs(row.start),
    wholeSince: row?.whole_since ?? undefined,
  };
}

/** `low` of {@link logBounds}, where the oldest of the new entries that are meant are known. */
export async function waitingLow(
  database: Queryable,
  entries: readonly { readonly since: string | null }[],
): Promise<string> {
  const times = entries.flatMap(({ since }) => since ?? []);
  const oldest = times.reduce<string | undefined>(
    (low, time) => (low === undefined || time < low ? time : low),
    undefined,
  );
  const [row] = await database.query<{ low: string }>(waitingSql, [oldest ?? null]);
  return row?.low ?? "";
}

/**
 * Bounds of the log ids that a query can concern. The log is partitioned by the time of ids (storage/baseline/10_request_parts.sql). A plan
 * has only the parts that its parameters allow, so a query with such bounds costs the same however many parts there are.
 */
import { dayMs } from "../base/durations.ts";
import { idMs } from "../base/ids.ts";
import type { Queryable } from "../storage/index.ts";

/** Returns a condition on a column of ids. */
export type LogIds = (column: string) => string;

/** The longest time from a call's id to its charge. */
export const callMsMax = 4 * dayMs;
/** The same for a task: it may be collected long after its deadline, if no gateway ran. Its hold outlives that by a month. */
export const taskMsMax = 40 * dayMs;

/** Ids made from `low` on: an expression for the time part of an id. */
export const idsFrom =
  (low: string): LogIds =>
  (column) =>
    `(${column} >= 'req_' || ${low}::text and ${column} < 'task_' or ${column} >= 'task_' || ${low}::text)`;

interface IdSpan {
  readonly low: string;
  /** The low end for ids of tasks. */
  readonly taskLow: string;
  readonly high: string;
}

/** Ids made from the low ends up to `high`, expressions as in {@link idsFrom}. */
export const idsWithin =
  ({ low, taskLow, high }: IdSpan): LogIds =>
  (column) =>
    `(${column} >= 'req_' || ${low}::text and ${column} < 'req_' || ${high}::text
      or ${column} >= 'task_' || ${taskLow}::text and ${column} < 'task_' || ${high}::text)`;

/** The most calls that are read to find the oldest; with more, its age is unknown. Calls that end meanwhile are allowed a day. */
const waitingMax = 100_000;

/** The oldest time of ids, in the form that ids have. */
export const timeOf = (id: string): string => `min(left(split_part(${id}, '_', 2), 10))`;

/** The number of calls in a query, and the oldest time of their ids. */
const oldestSql = (ids: string): string =>
  `(select count(*) as n, ${timeOf("y.id")} as low from (${ids} limit ${waitingMax + 1}) y)`;

/** The oldest time of these tables, at least a day ago; empty if one has too many rows. `more`: a time that is already known. */
const lowOf = (names: readonly string[], more = ""): string => {
  const of = (column: string): string => names.map((name) => `${name}.${column}`).join(", ");
  return `case when greatest(${of("n")}) > ${waitingMax} then '' else least(${of("low")}, id_time(now() - interval '1 day')${more}) end`;
};

const pending = oldestSql("select id from usage_pending");
const unattributed = oldestSql("select id from usage_unattributed");

/** True for wanted workspaces; without the parameter, for all. */
const isAsked = (workspace: string): string =>
  `($1::text[] is null or ${workspace} = any($1::text[]))`;
const newEntries = `
  select x.reference as id from ledger_accounts a left join usage_folds f on f.workspace_id = a.workspace_id
  cross join lateral (select e.reference, e.kind from ledger_entries e where e.workspace_id = a.workspace_id
    and e.entry > 0 and e.entry > coalesce(f.entry, 0) order by e.entry limit ${waitingMax + 1}) x
  where x.kind = 'charge' and ${isAsked("a.workspace_id")}`;

/** Since this migration sums have every count. Gateways of the version before may add to them for a while, so one day more. */
const countsMigration = "0057_vendor_tools.sql";

const lowSql = `
  select ${lowOf(["p", "u", "e"])} as low, (select id_time from request_log_start) as start,
    (select applied_at + interval '1 day' from schema_migrations where name = '${countsMigration}') as whole_since
  from ${oldestSql(`select id from usage_pending where ${isAsked("workspace_id")}`)} p,
    ${oldestSql(`select id from usage_unattributed where ${isAsked("workspace_id")}`)} u, ${oldestSql(newEntries)} e`;

const waitingSql = `
  select ${lowOf(["p", "u"], ", $1::text")} as low from ${pending} p, ${unattributed} u`;

/** Facts about the log that a query needs. */
export interface LogBounds {
  /** The oldest time of log rows that are not in the sums yet, in the form that ids have; empty if unknown. */
  readonly low: string;
  /** Rows from before this time were deleted; undefined if none were. */
  readonly startMs: number | undefined;
  /** Sums of earlier hours lack counts that log rows have. */
  readonly wholeSince: Date | undefined;
}

/** Returns the bounds for calls that are not in the sums of these workspaces; undefined: of all. */
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

/** Returns `low` of {@link logBounds}, if the caller knows the oldest of the new entries. */
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

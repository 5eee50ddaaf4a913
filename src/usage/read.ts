/**
 * Reads usage and its cost, by period and by group. docs/management.md.
 * Money is the ledger's: a row's cost is the sum of the charges committed within its period. So rows add up to the ledger to the last
 * nano-dollar, whatever happened to the log.
 */
import { hourMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import type { Granularity, UsageGroup } from "../base/management.ts";
import { formatUsd } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";
import { workspaceOfKey, type Visibility } from "../tenancy/index.ts";
import { percentilesOf } from "./histogram.ts";
import { logBounds, type LogBounds } from "./log-bounds.ts";
import type { Bind, UsageRequest, TagFilter } from "./usage-query.ts";
import { startsOf } from "./starts.ts";
import {
  asSummed,
  countNames,
  fewColumns,
  sumColumns,
  type Dimension,
  type SumColumn,
} from "./sums.ts";
import { partsSql } from "./union.ts";

/** The column of each group, which is also its name on the wire. */
export const usageColumns: Readonly<Record<UsageGroup, Dimension>> = {
  model: "model",
  key: "key_id",
  provider: "provider",
  member: "member_id",
  workspace: "workspace_id",
  protocol: "protocol",
  status: "status",
  error_code: "error_code",
};

export interface UsageFilter {
  readonly visibility: Visibility;
  readonly from: Date;
  /** Not included. */
  readonly to: Date;
  readonly granularity: Granularity;
  readonly groupBy?: UsageGroup | undefined;
  /** Further groupings of the same calls, each with rows of its own. */
  readonly alsoBy?: readonly UsageGroup[] | undefined;
  /** A tag that usage is summed by. The period is of whole days in UTC. */
  readonly tag?: TagFilter | undefined;
  /** The values that calls must have, by column. */
  readonly equal?: Readonly<Partial<Record<Dimension, string | undefined>>>;
  /** The number of groups with rows of their own, those with the highest cost; the others are one row. */
  readonly top?: number | undefined;
  /** The time zone of days and months, by its name or as `+02:00`; UTC if absent. */
  readonly timeZone?: string | undefined;
}

/** The most rows of one grouping in an answer: no reader can use more at once. */
export const usageRowsMax = 10_000;

interface UsageRow extends Readonly<Record<SumColumn, string>> {
  /** The index of its grouping: 0 for the first one, 1 for the first of `alsoBy`. */
  readonly place: number;
  readonly start: Date;
  readonly of: string | null;
  readonly other: boolean;
  /** The group's name, if that is not its id. */
  readonly name: string | null;
  readonly last4: string | null;
}

/** The name of a row's group, for groups that have one. */
const nameSql: Readonly<Partial<Record<UsageGroup, string>>> = {
  member: "(select u.email from users u where u.id = g.of)",
  key: "(select k.name from api_keys k where k.id = g.of limit 1)",
  workspace: "(select w.name from workspaces w where w.id = g.of)",
};

/** The end of a key's value: several keys may have one name. */
const last4Sql = "(select k.key_last4 from api_keys k where k.id = g.of limit 1)";

const summed = (table: string, columns: readonly SumColumn[]): string =>
  columns.map((name) => `sum(${table}.${name}) as ${name}`).join(", ");

/** There is no usage before or after these, and functions of time may not accept other times. */
const earliest = new Date("2000-01-01T00:00:00Z");
const latest = new Date("9000-01-01T00:00:00Z");

/** One grouping of rows, with its sums. */
interface Grouping extends UsageFilter {
  readonly columns: readonly SumColumn[];
}

/** Returns the groupings; the first has all the sums. A tag by which its rows are grouped does not apply to the others. */
function groupingsOf(filter: UsageFilter): [Grouping, ...Grouping[]] {
  const { groupBy, alsoBy = [], tag, top } = filter;
  const isGrouped = groupBy !== undefined || tag?.grouped === true;
  const ofTag = tag?.value === undefined ? undefined : { ...tag, grouped: false };
  return [
    { ...filter, top: isGrouped ? top : undefined, columns: sumColumns },
    ...alsoBy.map((group) => ({ ...filter, tag: ofTag, groupBy: group, columns: fewColumns })),
  ];
}

function wantedOf(grouping: Grouping, { low, startMs, wholeSince }: LogBounds): UsageRequest {
  const { granularity, groupBy, from, to, timeZone, tag } = grouping;
  const given = Object.entries(grouping.equal ?? {}).filter(([, value]) => value !== undefined);
  const period = { from: from < earliest ? earliest : from, to: to > latest ? latest : to };
  return {
    visibility: grouping.visibility,
    start: from,
    period,
    of: groupBy && usageColumns[groupBy],
    columns: grouping.columns,
    tag: tag && { ...tag, value: tag.value && asSummed(tag.value) },
    equal: Object.fromEntries(given),
    granularity,
    starts: timeZone === undefined ? undefined : startsOf(period, granularity, timeZone),
    logLow: low,
    wholeSince,
    splitSince: startMs === undefined ? undefined : new Date(startMs + startSlackMs),
  };
}

/** Returns the sums of one grouping as tables, and its rows with their names: one row more than the limit. */
function groupedSql(
  parts: string,
  place: number,
  { groupBy, top, columns, granularity }: Grouping,
  bind: Bind,
): { tables: string; rows: string } {
  const table = `grouped_${place}`;
  const name = (groupBy !== undefined && nameSql[groupBy]) || "null::text";
  const last4 = groupBy === "key" ? last4Sql : "null::text";
  const sums = sumColumns.map((column) =>
    columns.includes(column) ? `g.${column}` : "null::numeric",
  );
  // With many groups, sums by many periods are slow: so the top groups are found first. In a total each group has one row.
  const isTotal = top !== undefined && granularity === "total";
  const of = isTotal ? `summed_${place}` : `(${parts})`;
  const summedTable = `summed_${place} as materialized (
      select p.start, p.of, ${summed("p", columns)} from (${parts}) p group by 1, 2), `;
  return {
    tables: `${isTotal ? summedTable : ""}${table} as materialized (
      select p.start, ${top === undefined ? "p.of, false as other" : topColumns}, ${summed("p", columns)}
      from ${of} p ${top === undefined ? "" : topJoin(of, bind(top))}
      group by 1, 2, 3 having sum(p.requests) <> 0 or sum(p.cost_nano) <> 0)`,
    rows: `select ${place}, g.start, g.of, g.other, ${name}, ${last4}, ${sums.join(", ")}
      from (select * from ${table} order by start, cost_nano desc, of limit ${usageRowsMax + 1}) g`,
  };
}

/** Returns the statement and its parameters, by {@link logBounds}. Without those it reads the whole log, and all sums have every count. */
export function usageSql(
  filter: UsageFilter,
  known: LogBounds = { low: "", startMs: undefined, wholeSince: undefined },
): { sql: string; params: unknown[] } {
  const params: unknown[] = [];
  const bind: Bind = (value) => `$${params.push(value)}`;
  const groupings = groupingsOf(filter);
  const [first, ...others] = groupings;
  const { tables, parts } = partsSql(
    [wantedOf(first, known), ...others.map((one) => wantedOf(one, known))],
    bind,
  );
  const grouped = groupings.map((one, place) => groupedSql(parts[place]!, place, one, bind));
  const sums = sumColumns.map((column) => `s.${column}::text`);
  const sql = `
    with ${tables}, ${grouped.map((one) => one.tables).join(", ")}
    select s.place, s.start, nullif(s.of, '') as of, s.other, s.name, s.last4, ${sums.join(", ")}
    from (${grouped.map(({ rows }) => rows).join(" union all ")})
      s (place, start, of, other, name, last4, ${sumColumns.join(", ")})
    order by s.place, s.start, s.cost_nano desc, s.of`;
  return { sql, params };
}

/** Groups beyond the top ones are one row; the group without a name is never among them. */
const topColumns = "coalesce(r.of, '') as of, p.of <> '' and r.of is null as other";

/** The top groups of a table or query. */
const topJoin = (from: string, top: string): string => `left join (
  select y.of from ${from} y where y.of <> ''
  group by y.of order by sum(y.cost_nano) desc, sum(y.requests) desc, y.of limit ${top}::integer offset 0) r on r.of = p.of`;

/** The longest time from a row's id to the start of its call. Most calls are charged within it; segments.ts allows for the others. */
const startSlackMs = 2 * hourMs;

/**
 * Extends the ends of a period to whole hours if the log was deleted there, because the sums have no smaller parts. The sums of such a time
 * stay whole.
 */
function wholeHours({ from, to }: Pick<UsageFilter, "from" | "to">, startMs: number | undefined) {
  const begun = (at: Date, round: (hours: number) => number): Date =>
    startMs === undefined || at.getTime() >= startMs + startSlackMs
      ? at
      : new Date(round(at.getTime() / hourMs) * hourMs);
  return { from: begun(from, Math.floor), to: begun(to, Math.ceil) };
}

/** Adds the workspace of the wanted key to the values that calls must have; otherwise the query would read every workspace. */
async function ofKeysWorkspace(
  database: Queryable,
  { equal = {}, visibility }: UsageFilter,
): Promise<UsageFilter["equal"]> {
  const { key_id: keyId, workspace_id: workspaceId } = equal;
  if (keyId === undefined || workspaceId !== undefined) return equal;
  return { ...equal, workspace_id: await workspaceOfKey(database, keyId, visibility) };
}

/** Returns the workspaces that the answer may include; undefined: all. */
function workspacesOf({ equal = {}, visibility }: UsageFilter): readonly string[] | undefined {
  const { workspace_id: one } = equal;
  if (visibility.everything) return one === undefined ? undefined : [one];
  const seen = [...visibility.workspaceIds, ...visibility.ownWorkspaceIds];
  return one === undefined ? seen : seen.filter((id) => id === one);
}

/** Rows of a further grouping. */
export interface AlsoBy {
  readonly group: UsageGroup;
  readonly rows: object[];
  /** True if there are more than {@link usageRowsMax}. */
  readonly isCut: boolean;
}

/** Usage by the first grouping and by each of the others. */
export interface Usage {
  readonly rows: object[];
  readonly also: readonly AlsoBy[];
}

/**
 * Returns rows by time, the highest cost of each period first; all groupings are from one snapshot.
 * @throws GatewayError `invalid_value` for too many of the first grouping
 */
export async function readUsageBy(database: Queryable, asked: UsageFilter): Promise<Usage> {
  const filter = { ...asked, equal: await ofKeysWorkspace(database, asked) };
  const [first, ...others] = groupingsOf(filter);
  const found = await rowsOf(database, filter);
  const rowsAt = (place: number) => found.filter((row) => row.place === place);
  const rows = rowsAt(0);
  if (rows.length > usageRowsMax) {
    throw new GatewayError(
      "invalid_value",
      `The answer would have more than ${usageRowsMax} rows. Choose a coarser \`granularity\`, less time, or \`top\`.`,
      { param: "granularity" },
    );
  }
  return {
    rows: rows.map((row) => renderRow(row, first)),
    also: others.map((one, place) => {
      const ofIt = rowsAt(place + 1);
      return {
        group: one.groupBy!,
        rows: ofIt.slice(0, usageRowsMax).map((row) => renderRow(row, one)),
        isCut: ofIt.length > usageRowsMax,
      };
    }),
  };
}

/** Returns the rows of one grouping. @throws GatewayError `invalid_value` for too many */
export const readUsage = async (database: Queryable, asked: UsageFilter): Promise<object[]> =>
  (await readUsageBy(database, asked)).rows;

/** Returns the rows of all groupings. */
async function rowsOf(database: Queryable, filter: UsageFilter): Promise<readonly UsageRow[]> {
  if (filter.to <= earliest || filter.from >= latest) return [];
  const workspaces = workspacesOf(filter);
  // A user without workspaces has no usage.
  if (workspaces?.length === 0) return [];
  const bounds = await logBounds(database, workspaces);
  const { sql, params } = usageSql({ ...filter, ...wholeHours(filter, bounds.startMs) }, bounds);
  return database.query<UsageRow>(sql, params);
}

function renderRow(row: UsageRow, { groupBy, tag, top, columns }: Grouping): object {
  const counts = countNames.filter((name) => columns.includes(name));
  return {
    start: row.start.toISOString(),
    ...(tag?.grouped === true && { tag: row.of, untagged: row.of === null && !row.other }),
    ...(groupBy !== undefined && { [usageColumns[groupBy]]: row.of }),
    ...(groupBy === "member" && { member_email: row.name }),
    ...(groupBy === "key" && { key_name: row.name, key_last4: row.last4 }),
    ...(groupBy === "workspace" && { workspace_name: row.name }),
    ...(top !== undefined && { other: row.other }),
    requests: Number(row.requests),
    errors: Number(row.errors),
    client_closed: Number(row.client_closed),
    ...Object.fromEntries(counts.map((name) => [name, Number(row[name])])),
    ...(columns.includes("duration") && {
      duration: percentilesOf(row.duration),
      first_token: percentilesOf(row.first_token),
    }),
    cost: formatUsd(BigInt(row.cost_nano)),
  };
}

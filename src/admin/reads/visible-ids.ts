/**
 * Pages of log rows, tasks and callbacks over all workspaces that the actor sees, newest first. The primary key finds each
 * workspace's newest rows, so a page costs the same however long the tables are. Only ids are sorted; rows are read for the page
 * alone (T86).
 */
import { hourMs } from "../../base/durations.ts";
import { idTime } from "../../base/ids.ts";
import type { Queryable } from "../../storage/index.ts";
import {
  invalidCursor,
  onlyRow,
  visibilityParams,
  workspaceOfKey,
  type PageRequest,
  type Visibility,
} from "../../tenancy/index.ts";
import { maxIdPart, idPartOf } from "./scan-steps.ts";
import type { Bind, Condition, LogTable } from "./log-tables.ts";

/** Identifies a row, which is read separately. */
export interface RowName {
  readonly workspaceId: string;
  readonly id: string;
}

export interface LogFilter extends PageRequest {
  readonly visibility: Visibility;
  readonly workspaceId?: string | undefined;
  /** Rows created at or after it. */
  readonly from?: Date | undefined;
  /** Rows created before it. */
  readonly to?: Date | undefined;
  /** Columns of the table, by name, and the value each must have; undefined: any. */
  readonly equal?: Readonly<Record<string, string | undefined>>;
  /** Rare conditions, which few rows may meet. With any of them, a page scans a limited number of rows and may be short. */
  readonly rare?: readonly Condition[];
}

export interface NamePage {
  readonly names: readonly RowName[];
  readonly nextCursor: string | null;
  /** Creation time of the oldest row that was scanned; null: nothing is left to scan. */
  readonly scannedTo: Date | null;
}

/** Rows that a page with rare conditions scans: of all workspaces together, and at least of each where there are many. */
const scannedRowsMax = 50_000;
const scannedRowsMin = 2_000;
/** With more workspaces, the least rows of each would be too many in all. */
const fewWorkspacesMax = scannedRowsMax / scannedRowsMin;

/** An id is made when a call arrives, while `created_at` is when it began: later, after its body was read, or by another clock. */
const clockSlackMs = hourMs;
export interface NameRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly cost_nano?: bigint;
}

export const nameOf = (row: NameRow): RowName => ({ workspaceId: row.workspace_id, id: row.id });

/** The workspaces `w` in which the actor sees something; `whole` if every row. Uses $1 to $4. */
const scope = `(
  select v.id as workspace_id, ($2::boolean or v.id = any($3::text[])) as whole from workspaces v
  where $2::boolean or v.id = any($3::text[]) or v.id = any($4::text[])
) w`;

function scopeParams(visibility: Visibility): unknown[] {
  const [everything, whole, own, userId] = visibilityParams(visibility);
  return [userId, everything, whole, own];
}

/** Adds the workspace of the filter's key. Without it, each row of every workspace would be scanned. */
export async function withWorkspaceOfKey<Filter extends LogFilter>(
  database: Queryable,
  filter: Filter,
): Promise<Filter> {
  const keyId = filter.equal?.["key_id"];
  if (keyId === undefined || filter.workspaceId !== undefined) return filter;
  return { ...filter, workspaceId: await workspaceOfKey(database, keyId, filter.visibility) };
}

/** Id parts after the prefix: from `low` on, before `high`. */
export interface Bounds {
  readonly low: string;
  readonly high: string;
}

/** Returns the id bounds, without prefixes. @throws GatewayError `invalid_value` for a cursor of another list */
export function idBounds({ prefixes }: LogTable, { cursor, from, to }: LogFilter): Bounds {
  const low = from === undefined ? "" : idTime(from.getTime() - clockSlackMs);
  const high = to === undefined ? maxIdPart : idTime(to.getTime() + clockSlackMs);
  if (cursor === undefined) return { low, high };
  const before = idPartOf(cursor);
  // Another list's id also has a time: the page would look like the intended one.
  if (before === undefined || !prefixes.some((prefix) => cursor.startsWith(prefix)))
    throw invalidCursor();
  return { low, high: before < high ? before : high };
}

export interface ScanEnd {
  /** The id part after the prefix. */
  readonly part: string;
  readonly at: Date;
}

interface Scan extends Bounds {
  /** `up`: from the oldest row on; `down`: from the newest. */
  readonly way: "up" | "down";
}

/** Returns where a page with rare conditions ends at the latest; undefined if the rows are few enough to scan all. */
export async function scanEnd(
  database: Queryable,
  logTable: LogTable,
  filter: LogFilter,
  { low, high, way }: Scan = { ...idBounds(logTable, filter), way: "down" },
): Promise<ScanEnd | undefined> {
  const order = way === "up" ? "" : "desc";
  const params = scopeParams(filter.visibility);
  const bind: Bind = (value) => `$${params.push(value)}`;
  const only =
    filter.workspaceId === undefined ? "" : `where w.workspace_id = ${bind(filter.workspaceId)}`;
  const [end] = await database.query<ScanEnd>(
    `with seen as materialized (select w.workspace_id from ${scope} ${only}),
     last as (select n.* from seen w cross join lateral (${logTable.prefixes
       .map(
         (prefix) => `(
       select x.workspace_id, x.id from ${logTable.table} x
       where x.workspace_id = w.workspace_id and x.id >= ${bind(prefix + low)} and x.id < ${bind(prefix + high)}
         and ($1::text is null or true)
       order by x.id ${order}
       offset (select greatest(${scannedRowsMin}, ${scannedRowsMax} / count(*)) - 1 from seen) limit 1)`,
       )
       .join(" union all ")}
     ) n order by split_part(n.id, '_', 2) ${order} limit 1)
     -- The rows that are passed over are read from the index alone.
     select split_part(e.id, '_', 2) as part,
       (select x.created_at from ${logTable.table} x where x.workspace_id = e.workspace_id and x.id = e.id) as at from last e`,
    params,
  );
  return end;
}

/** SQL for a column; for `status`, any of several values separated by commas. */
function anyOf(logTable: LogTable, column: string, { value, bind }: { value: string; bind: Bind }) {
  const values = column === "status" ? value.split(",") : [value];
  return `(${values.map((one) => logTable.equal(column, bind(one))).join(" or ")})`;
}

/** The order of names: within a workspace by columns of row `x`, then among all workspaces by those of `n`. */
interface Order {
  readonly inside: string;
  readonly outside: string;
  /** A column that the order needs besides the id. */
  readonly column?: string;
}

const newestFirst: Order = { inside: "x.id desc", outside: "split_part(n.id, '_', 2) desc" };

interface NamesQuery extends Bounds {
  readonly most: number;
  /** Newest first if absent. */
  readonly order?: Order;
}

/** Returns the first names that match the filter, with ids from `low` up to `high`, at most `most`. */
export function readNames(
  database: Queryable,
  logTable: LogTable,
  filter: LogFilter,
  { low, high, most, order = newestFirst }: NamesQuery,
): Promise<NameRow[]> {
  const params = [...scopeParams(filter.visibility), filter.workspaceId ?? null];
  const bind: Bind = (value) => `$${params.push(value)}`;
  const where = Object.entries(filter.equal ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => anyOf(logTable, column, { value: value!, bind }));
  if (filter.from !== undefined) where.push(`x.created_at >= ${bind(filter.from)}::timestamptz`);
  if (filter.to !== undefined) where.push(`x.created_at < ${bind(filter.to)}::timestamptz`);
  where.push(...(filter.rare ?? []).map((condition) => condition(bind)));
  const count = bind(most);
  const column = order.column === undefined ? "" : `, ${order.column}`;
  // Literal bounds per prefix, so that a plan has only the parts between them.
  const ofPrefix = (prefix: string): string => `(
       select x.workspace_id, x.id${column} from ${logTable.table} x
       where x.workspace_id = w.workspace_id and x.id >= ${bind(prefix + low)} and x.id < ${bind(prefix + high)}
         and ${["true", ...where].join(" and ")} and (w.whole or ${logTable.ownSql})
       order by ${order.inside} limit ${count})`;
  return database.query<NameRow>(
    `select n.* from ${scope}
     cross join lateral (${logTable.prefixes.map(ofPrefix).join(" union all ")}) n
     where $5::text is null or w.workspace_id = $5
     order by ${order.outside} limit ${count}`,
    params,
  );
}

/** True if the filter covers many workspaces. */
export async function coversManyWorkspaces(
  database: Queryable,
  filter: LogFilter,
): Promise<boolean> {
  if (filter.workspaceId !== undefined) return false;
  const [row] = await database.query<{ many: boolean }>(
    `select count(*) > ${fewWorkspacesMax} as many from (select from ${scope} where $1::text is null or true limit ${fewWorkspacesMax + 1}) x`,
    scopeParams(filter.visibility),
  );
  return row?.many === true;
}

/**
 * Returns the name of one visible row. Rows of other workspaces are not read, so they answer like missing rows, and as fast.
 * @throws GatewayError `not_found`
 */
export async function findVisible(
  database: Queryable,
  logTable: LogTable,
  id: string,
  visibility: Visibility,
): Promise<RowName> {
  const rows = await database.query<NameRow>(
    `select n.workspace_id, n.id from ${scope}
     cross join lateral (
       select x.workspace_id, x.id from ${logTable.table} x
       where x.workspace_id = w.workspace_id and x.id = $5 and (w.whole or ${logTable.ownSql})
     ) n`,
    [...scopeParams(visibility), id],
  );
  return nameOf(onlyRow(rows, logTable.label));
}

/** The two parameters that select a page's rows: workspace ids and row ids. */
export const nameParams = (names: readonly RowName[]): [string[], string[]] => [
  names.map(({ workspaceId }) => workspaceId),
  names.map(({ id }) => id),
];

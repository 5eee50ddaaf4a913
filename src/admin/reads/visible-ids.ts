/**
 * Pages of what calls leave behind (log rows, tasks, callbacks), over every workspace somebody sees, newest first. Each
 * workspace's newest are found by the primary key, so that a page costs the same however long the tables are, and only its
 * ids are sorted; the rows themselves are read for the page alone (T86).
 */
import { invalidValue } from "../../base/errors.ts";
import { idMs, idTime } from "../../base/ids.ts";
import type { Queryable } from "../../storage/index.ts";
import {
  onlyRow,
  pageLimit,
  visibilityParams,
  type PageRequest,
  type Visibility,
} from "../../tenancy/index.ts";

/** A table whose key is (workspace_id, id). Its names are written into statements and are never input. */
export interface Trail {
  readonly table: "requests" | "tasks" | "webhook_deliveries";
  /** Of its ids; each kind sorts by time. */
  readonly prefixes: readonly string[];
  /** What one row is called. */
  readonly what: string;
  /** True where the row `x` is of user `$1`. */
  readonly mine: string;
  /** Whether it is kept in parts by the time of its ids: what is asked for is mostly in the newest. */
  readonly inParts?: boolean;
  /** True where the column has the value, an expression, in row `x`. */
  equal(column: string, value: string): string;
}

/** True where the log's row `x` is of user `user`, an expression: a key of theirs made it. */
const ofUser = (user: string): string =>
  `((x.workspace_id, x.key_id) in (select k.workspace_id, k.id from api_keys k where k.created_by = ${user})
    or x.head in (select h.id from request_heads h
      join api_keys k on k.workspace_id = h.workspace_id and k.id = h.key_id where k.created_by = ${user}))`;

const inRow = (column: string, value: string): string => `x.${column} = ${value}`;

/**
 * Of the log only rows are walked, in their order and no further than the page goes; what their heads tell is asked of all heads
 * at once. A join of both, as in the view `request_log`, is estimated wrongly and would read a workspace whole.
 */
export const requestTrail: Trail = {
  table: "requests",
  prefixes: ["req_", "task_"],
  what: "request",
  inParts: true,
  mine: ofUser("$1"),
  equal: (column, value) =>
    `(${inRow(column, value)} or x.head in (select h.id from request_heads h where h.${column} = ${value}))`,
};

export const taskTrail: Trail = {
  table: "tasks",
  prefixes: ["task_"],
  what: "task",
  mine: "x.member_id = $1",
  equal: inRow,
};

export const deliveryTrail: Trail = {
  table: "webhook_deliveries",
  prefixes: ["evt_"],
  what: "delivery",
  mine: `exists (select 1 from tasks t where t.workspace_id = x.workspace_id and t.id = x.task_id and t.member_id = $1)`,
  equal: inRow,
};

type Bind = (value: unknown) => string;

/** Conditions on rows of the log that few may have; each is SQL, with its value bound. */
export const requestConditions = {
  member_id: (value: string) => (bind: Bind) => ofUser(bind(value)),
  protocol: (value: string) => (bind: Bind) => requestTrail.equal("protocol", bind(value)),
  http_status: (value: number) => (bind: Bind) =>
    requestTrail.equal("http_status", `${bind(value)}::integer`),
  error_code: (value: string) => (bind: Bind) =>
    requestTrail.equal("explanation ->> 'error'", bind(value)),
  tag: (name: string, value: string) => (bind: Bind) =>
    `x.tags ->> ${bind(name)}::text = ${bind(value)}`,
  end_user: (value: string) => (bind: Bind) => `x.end_user = ${bind(value)}`,
  min_cost: (nano: bigint) => (bind: Bind) => `x.cost_nano >= ${bind(nano)}::bigint`,
  min_duration_ms: (ms: number) => (bind: Bind) => `x.duration_ms >= ${bind(ms)}::integer`,
  /** In the code or the message of the error, whatever the case of its letters. */
  q: (text: string) => (bind: Bind) => {
    const like = bind(`%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
    const code = "explanation ->> 'error'";
    return `(x.error_message ilike ${like} or x.${code} ilike ${like}
      or x.head in (select h.id from request_heads h where h.${code} ilike ${like}))`;
  },
  changed: (isChanged: boolean) => () =>
    `coalesce(json_array_length(x.dropped), 0) ${isChanged ? ">" : "="} 0`,
};

/** Which row, whose content is read elsewhere. */
export interface RowName {
  readonly workspaceId: string;
  readonly id: string;
}

export interface TrailFilter extends PageRequest {
  readonly visibility: Visibility;
  readonly workspaceId?: string | undefined;
  /** Rows created at or after it. */
  readonly from?: Date | undefined;
  /** Rows created before it. */
  readonly to?: Date | undefined;
  /** Columns of the table, by name, and the value each must have; undefined: any. */
  readonly equal?: Readonly<Record<string, string | undefined>>;
  /** What few rows may have: with any of it a page looks at so many rows and no more, and may be short. */
  readonly rare?: readonly ((bind: Bind) => string)[];
}

export interface NamePage {
  readonly names: readonly RowName[];
  readonly nextCursor: string | null;
  /** When the oldest row was made that was looked at; null: nothing is left to look at. */
  readonly scannedTo: Date | null;
}

/** Rows that a page with rare conditions looks at: of all workspaces together, and of one where there are many. */
const lookedAtMax = 50_000;
const lookedAtMin = 2_000;

/** An id is made when a call arrives, its row says when it began: after its body was read, or by another clock. */
const clockSlackMs = 60 * 60 * 1000;
const randomCharacters = 16;
const newest = "z".repeat(10 + randomCharacters);
const shape = /^[a-z]{1,10}_([0-9a-z]{26})$/;

interface NameRow {
  readonly workspace_id: string;
  readonly id: string;
}

const nameOf = (row: NameRow): RowName => ({ workspaceId: row.workspace_id, id: row.id });

/** The workspaces `w` of which somebody sees something; `whole` where they see every row. Takes $1 to $4. */
const scope = `(
  select v.id as workspace_id, ($2::boolean or v.id = any($3::text[])) as whole from workspaces v
  where $2::boolean or v.id = any($3::text[]) or v.id = any($4::text[])
) w`;

function scopeParams(visibility: Visibility): unknown[] {
  const [everything, whole, own, userId] = visibilityParams(visibility);
  return [userId, everything, whole, own];
}

/** The bounds of ids, without their prefixes. @throws GatewayError `invalid_value` for a cursor that is none */
function idBounds({ cursor, from, to }: TrailFilter): { low: string; high: string } {
  const low = from === undefined ? "" : idTime(from.getTime() - clockSlackMs);
  const high = to === undefined ? newest : idTime(to.getTime() + clockSlackMs);
  if (cursor === undefined) return { low, high };
  const before = shape.exec(cursor)?.[1];
  if (before === undefined) {
    throw invalidValue("cursor", "is the `next_cursor` of a page");
  }
  return { low, high: before < high ? before : high };
}

interface ScanEnd {
  /** The part of an id after its prefix. */
  readonly part: string;
  readonly at: Date;
}

/** Where a page with rare conditions ends at the latest; undefined where all rows are few enough. */
async function scanEnd(
  database: Queryable,
  trail: Trail,
  filter: TrailFilter,
): Promise<ScanEnd | undefined> {
  const { low, high } = idBounds(filter);
  const params = scopeParams(filter.visibility);
  const bind: Bind = (value) => `$${params.push(value)}`;
  const only =
    filter.workspaceId === undefined ? "" : `where w.workspace_id = ${bind(filter.workspaceId)}`;
  const [end] = await database.query<ScanEnd>(
    `with seen as materialized (select w.workspace_id from ${scope} ${only})
     select split_part(n.id, '_', 2) as part, n.created_at as at from seen w
     cross join lateral (${trail.prefixes
       .map(
         (prefix) => `(
       select x.id, x.created_at from ${trail.table} x
       where x.workspace_id = w.workspace_id and x.id >= ${bind(prefix + low)} and x.id < ${bind(prefix + high)}
         and ($1::text is null or true)
       order by x.id desc
       offset (select greatest(${lookedAtMin}, ${lookedAtMax} / count(*)) - 1 from seen) limit 1)`,
       )
       .join(" union all ")}
     ) n order by 1 desc limit 1`,
    params,
  );
  return end;
}

/** Of a status any one may be asked for, by commas. */
function anyOf(trail: Trail, column: string, { value, bind }: { value: string; bind: Bind }) {
  const values = column === "status" ? value.split(",") : [value];
  return `(${values.map((one) => trail.equal(column, bind(one))).join(" or ")})`;
}

/** The newest names of what is asked for, with ids from `low` up to `high`, at most `most`. */
function readNames(
  database: Queryable,
  trail: Trail,
  filter: TrailFilter,
  { low, high, most }: { readonly low: string; readonly high: string; readonly most: number },
): Promise<NameRow[]> {
  const params = scopeParams(filter.visibility);
  const bind: Bind = (value) => `$${params.push(value)}`;
  const where = Object.entries(filter.equal ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => anyOf(trail, column, { value: value!, bind }));
  if (filter.from !== undefined) where.push(`x.created_at >= ${bind(filter.from)}::timestamptz`);
  if (filter.to !== undefined) where.push(`x.created_at < ${bind(filter.to)}::timestamptz`);
  where.push(...(filter.rare ?? []).map((condition) => condition(bind)));
  const count = bind(most);
  // The bounds of each prefix as they are, so that a plan has only the parts between them.
  const ofPrefix = (prefix: string): string => `(
       select x.workspace_id, x.id from ${trail.table} x
       where x.workspace_id = w.workspace_id and x.id >= ${bind(prefix + low)} and x.id < ${bind(prefix + high)}
         and ${["true", ...where].join(" and ")} and (w.whole or ${trail.mine})
       order by x.id desc limit ${count})`;
  return database.query<NameRow>(
    `select n.workspace_id, n.id from ${scope}
     cross join lateral (${trail.prefixes.map(ofPrefix).join(" union all ")}) n
     ${filter.workspaceId === undefined ? "" : `where w.workspace_id = ${bind(filter.workspaceId)}`}
     order by split_part(n.id, '_', 2) desc limit ${count}`,
    params,
  );
}

/** A page is looked for in so many days first, and in all of them where they have too few. */
const nearMs = 8 * 24 * 3_600_000;

/** Where the near days before `high` begin, if not before `low`. */
function nearLow({ low, high }: { readonly low: string; readonly high: string }): string {
  const end = high === newest ? Date.now() : idMs(high);
  const near = idTime((end ?? 0) - nearMs);
  return near > low ? near : low;
}

/** A page of the ids somebody sees. @throws GatewayError `invalid_value` (limit, cursor) */
export async function listVisible(
  database: Queryable,
  trail: Trail,
  filter: TrailFilter,
): Promise<NamePage> {
  const limit = pageLimit(filter.limit);
  const rare = filter.rare ?? [];
  const end = rare.length === 0 ? undefined : await scanEnd(database, trail, filter);
  const bounds = idBounds(filter);
  const all = { low: end?.part ?? bounds.low, high: bounds.high, most: limit + 1 };
  const low = trail.inParts === true ? nearLow(all) : all.low;
  let rows = await readNames(database, trail, filter, { ...all, low });
  if (rows.length <= limit && low !== all.low) rows = await readNames(database, trail, filter, all);
  const names = rows.slice(0, limit).map(nameOf);
  if (rows.length > limit)
    return { names, nextCursor: names.at(-1)!.id, scannedTo: end?.at ?? null };
  const nextCursor = end === undefined ? null : `${trail.prefixes[0]}${end.part}`;
  return { names, nextCursor, scannedTo: end?.at ?? null };
}

/**
 * One row that somebody sees. Rows of workspaces that are not theirs are not looked at, so that they answer as missing ones
 * do, and as fast. @throws GatewayError `not_found`
 */
export async function findVisible(
  database: Queryable,
  trail: Trail,
  id: string,
  visibility: Visibility,
): Promise<RowName> {
  const rows = await database.query<NameRow>(
    `select n.workspace_id, n.id from ${scope}
     cross join lateral (
       select x.workspace_id, x.id from ${trail.table} x
       where x.workspace_id = w.workspace_id and x.id = $5 and (w.whole or ${trail.mine})
     ) n`,
    [...scopeParams(visibility), id],
  );
  return nameOf(onlyRow(rows, trail.what));
}

/** The two parameters by which a page's rows are read: their workspaces and their ids. */
export const nameParams = (names: readonly RowName[]): [string[], string[]] => [
  names.map(({ workspaceId }) => workspaceId),
  names.map(({ id }) => id),
];

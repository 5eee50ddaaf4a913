/** What the functions of this folder need from outside, and what their answers have in common. */
import type { Clock } from "../base/clock.ts";
import { GatewayError, invalidValue } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import type { ChangeDatabase } from "./changes.ts";

/** Enough to read and to add rows; inside a transaction too. */
export interface RowContext {
  readonly database: Queryable;
  readonly clock: Clock;
}

/** Needed to change rows: a change is a transaction, and is signalled (changes.ts). */
export interface ChangeContext {
  readonly database: ChangeDatabase;
  readonly clock: Clock;
}

/** The only row of an answer. @throws GatewayError `not_found`, the same for a missing row and another tenant's. */
export function onlyRow<Row>(rows: readonly Row[], what: string): Row {
  const [row] = rows;
  if (row === undefined) throw noSuch(what);
  return row;
}

/** The one answer for what is missing and for what is somebody else's. */
export const noSuch = (what: string): GatewayError =>
  new GatewayError("not_found", `No such ${what}.`);

/** How a row is read that a change is decided on: locked, so that nothing changes between. */
export interface ReadOptions {
  readonly forUpdate?: boolean | undefined;
}

/** The end of a statement that reads one row. */
export const lockClause = ({ forUpdate = false }: ReadOptions = {}): string =>
  forUpdate ? " for update" : "";

/** How the rows of one table are read. */
export interface RowKind<Row, Record> {
  readonly table: "organizations" | "workspaces";
  readonly columns: string;
  /** In messages. */
  readonly what: string;
  readonly record: (row: Row) => Record;
}

/** The record with this id. @throws GatewayError `not_found` */
export async function recordById<Row extends object, Record>(
  { table, columns, what, record }: RowKind<Row, Record>,
  { database }: Pick<RowContext, "database">,
  id: string,
  options?: ReadOptions,
): Promise<Record> {
  const rows = await database.query<Row>(
    `select ${columns} from ${table} where id = $1${lockClause(options)}`,
    [id],
  );
  return record(onlyRow(rows, what));
}

/** A page of a list, newest first. */
export interface PageRequest {
  /** 1 to 100; 20 without. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface Page<Record> {
  readonly records: readonly Record[];
  readonly nextCursor: string | null;
}

/** The checked size of a page. @throws GatewayError `invalid_value` */
export function pageLimit(limit: number | undefined): number {
  if (limit === undefined) return 20;
  if (Number.isInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw invalidValue("limit", "must be from 1 to 100");
}

/**
 * The id behind which a page begins, of a list whose ids begin with `prefix`; null for the first page.
 * @throws GatewayError `invalid_value` for what is no cursor of such a list: another page than was meant would look like the right one
 */
export function cursorOf({ cursor }: PageRequest, prefix: string): string | null {
  if (cursor === undefined) return null;
  if (cursor.startsWith(`${prefix}_`)) return cursor;
  throw noCursor();
}

/** What is answered to a cursor that no page of the list has given. */
export const noCursor = (): GatewayError =>
  invalidValue("cursor", "is the `next_cursor` of a page");

/** Cuts rows fetched with one more than `limit` into a page. Ids sort by time, so the last id is the cursor. */
export function pageOf<Record extends { readonly id: string }>(
  records: readonly Record[],
  limit: number,
): Page<Record> {
  const shown = records.slice(0, limit);
  return { records: shown, nextCursor: records.length > limit ? (shown.at(-1)?.id ?? null) : null };
}

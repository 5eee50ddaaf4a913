/** The context that the functions of this folder need, and helpers that their answers share. */
import type { Clock } from "../base/clock.ts";
import { GatewayError, invalidValue } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import type { ChangeDatabase } from "./changes.ts";

/** Context to read and add rows; may be a transaction. */
export interface RowContext {
  readonly database: Queryable;
  readonly clock: Clock;
}

/** Context to change rows: a change runs in a transaction and is signalled (changes.ts). */
export interface ChangeContext {
  readonly database: ChangeDatabase;
  readonly clock: Clock;
}

/** The only row of a result. @throws GatewayError `not_found`, the same for a missing row and for another tenant's. */
export function onlyRow<Row>(rows: readonly Row[], what: string): Row {
  const [row] = rows;
  if (row === undefined) throw notFound(what);
  return row;
}

/** The error for missing records, and the same one for records of another tenant. */
export const notFound = (what: string): GatewayError =>
  new GatewayError("not_found", `No such ${what}.`);

/** Options for reading a row before a change: `forUpdate` locks it until the transaction ends. */
export interface ReadOptions {
  readonly forUpdate?: boolean | undefined;
}

/** The lock clause at the end of a statement that reads one row. */
export const lockClause = ({ forUpdate = false }: ReadOptions = {}): string =>
  forUpdate ? " for update" : "";

/** How the rows of one table are read. */
export interface RowKind<Row, Record> {
  readonly table: "organizations" | "workspaces";
  readonly columns: string;
  /** The name of the record in error messages. */
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

/** A request for one page of a list, newest first. */
export interface PageRequest {
  /** 1 to 100; 20 if absent. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
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
 * Returns the id after which the page begins; null for the first page. Ids of the list begin with `prefix`.
 * @throws GatewayError `invalid_value` if the text is no cursor of such a list; otherwise the caller would get a wrong page that
 * looks right
 */
export function cursorOf({ cursor }: PageRequest, prefix: string): string | null {
  if (cursor === undefined) return null;
  if (cursor.startsWith(`${prefix}_`)) return cursor;
  throw invalidCursor();
}

/** The error for a cursor that no page of the list returned. */
export const invalidCursor = (): GatewayError =>
  invalidValue("cursor", "must be the `next_cursor` of an earlier page of this list");

/** Makes a page from up to `limit` + 1 fetched rows. Ids sort by time, so the last id is the cursor. */
export function pageOf<Record extends { readonly id: string }>(
  records: readonly Record[],
  limit: number,
): Page<Record> {
  const shown = records.slice(0, limit);
  return { records: shown, nextCursor: records.length > limit ? (shown.at(-1)?.id ?? null) : null };
}

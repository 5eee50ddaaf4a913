/** Merges rows of the event stream into a list: each row once, in its current state, in the list's order. Pure. */

export interface Listed {
  readonly id: string;
}

/** A page of a list of the API. */
export interface ListPage<Row extends Listed> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** The data of an infinite query. */
export interface Pages<Row extends Listed> {
  readonly pages: readonly ListPage<Row>[];
  readonly pageParams: readonly unknown[];
}

/** Rows kept while new ones arrive; older ones are read again when the reader scrolls to them. */
const keptMax = 500;

/** Ids sort by time after their prefix. */
const sortKeyOf = ({ id }: Listed): string => id.slice(id.indexOf("_") + 1);

const newestFirst = (one: Listed, other: Listed): number =>
  sortKeyOf(one) < sortKeyOf(other) ? 1 : -1;

/** Returns the rows that are not in the list yet. */
export function newRowsOf<Row extends Listed>(list: Pages<Row>, rows: readonly Row[]): Row[] {
  const known = new Set(list.pages.flatMap(({ data }) => data.map(({ id }) => id)));
  return rows.filter(({ id }) => !known.has(id));
}

/**
 * True if rows are missing between a list and its first page, read later: the page is full, and has none of the list's rows. A short
 * page has searched a part of a log with rare matches: the list's rows are beyond it.
 */
export const hasGap = <Row extends Listed>(
  list: Pages<Row>,
  page: ListPage<Row>,
  pageSize: number,
): boolean =>
  page.has_more &&
  page.data.length >= pageSize &&
  newRowsOf(list, page.data).length === page.data.length;

/** The most waiting rows that are kept; beyond that only their number. */
const waitingMax = 500;

/** New rows that wait above a list. */
export interface Waiting<Row> {
  readonly rows: readonly Row[];
  /** The number of rows that are not kept. */
  readonly skipped: number;
}

/** Returns the waiting rows after others were received, of which `fresh` wait: each in its current state, and none that no longer matches. */
export function withWaiting<Row extends Listed>(
  before: Waiting<Row>,
  received: readonly Row[],
  fresh: readonly Row[],
): Waiting<Row> {
  const ids = new Set(received.map(({ id }) => id));
  const others = before.rows.filter(({ id }) => !ids.has(id));
  if (fresh.length === 0 && others.length === before.rows.length) return before;
  const all = [...others, ...fresh];
  const over = Math.max(0, all.length - waitingMax);
  return { rows: all.slice(over), skipped: before.skipped + over };
}

/** Returns the waiting rows that are not in the list: a list that was read again has them. */
export function stillWaiting<Row extends Listed>(
  before: Waiting<Row>,
  list: Pages<Row>,
): Waiting<Row> {
  const rows = newRowsOf(list, before.rows);
  return rows.length === before.rows.length ? before : { ...before, rows };
}

/** Returns the list with its rows updated, and without updated rows that no longer match. */
export function withUpdatedRows<Row extends Listed>(
  list: Pages<Row>,
  rows: readonly Row[],
  fits: (row: Row) => boolean,
): Pages<Row> {
  const now = new Map(rows.map((row) => [row.id, row]));
  const isIn = ({ data }: ListPage<Row>): boolean => data.some(({ id }) => now.has(id));
  if (!list.pages.some(isIn)) return list;
  const pages = list.pages.map((page) =>
    isIn(page)
      ? {
          ...page,
          data: page.data
            .map((row) => now.get(row.id) ?? row)
            .filter((row) => !now.has(row.id) || fits(row)),
        }
      : page,
  );
  return { ...list, pages };
}

/** Returns the list with new rows added. Rows after the list's end are left to its next page. */
export function withNewRows<Row extends Listed>(
  list: Pages<Row>,
  rows: readonly Row[],
): Pages<Row> {
  const [first, ...others] = list.pages;
  if (first === undefined) return list;
  const end = list.pages.at(-1)!;
  const last = end.data.at(-1);
  const isBehind = (row: Row): boolean =>
    end.has_more && last !== undefined && sortKeyOf(row) < sortKeyOf(last);
  const fresh = newRowsOf(list, rows).filter((row) => !isBehind(row));
  if (fresh.length === 0) return list;
  const data = [...fresh, ...first.data].sort(newestFirst);
  if (data.length <= keptMax) return { ...list, pages: [{ ...first, data }, ...others] };
  const kept = data.slice(0, keptMax);
  const page = { ...first, data: kept, has_more: true, next_cursor: kept.at(-1)!.id };
  return { pages: [page], pageParams: list.pageParams.slice(0, 1) };
}

/** Rows that came by the stream, among those of a list: each once, as it is now, in the list's order. Pure. */

export interface Listed {
  readonly id: string;
}

/** A page of a list of the API. */
export interface ListPage<Row extends Listed> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** What an infinite query keeps. */
export interface Pages<Row extends Listed> {
  readonly pages: readonly ListPage<Row>[];
  readonly pageParams: readonly unknown[];
}

/** Rows that are kept while new ones come in: the rest is read again where somebody scrolls to it. */
const keptMax = 500;

/** Ids sort by time behind their prefix. */
const placeOf = ({ id }: Listed): string => id.slice(id.indexOf("_") + 1);

const newestFirst = (one: Listed, other: Listed): number =>
  placeOf(one) < placeOf(other) ? 1 : -1;

/** Those of the rows that are not in the list yet. */
export function unknownOf<Row extends Listed>(list: Pages<Row>, rows: readonly Row[]): Row[] {
  const known = new Set(list.pages.flatMap(({ data }) => data.map(({ id }) => id)));
  return rows.filter(({ id }) => !known.has(id));
}

/** The list with those of the rows that it has already as they are now, without those that do not fit it any more. */
export function renewed<Row extends Listed>(
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

/** The list with the rows that are new to it. What belongs behind its end is left to the page that comes next. */
export function merged<Row extends Listed>(list: Pages<Row>, rows: readonly Row[]): Pages<Row> {
  const [first, ...others] = list.pages;
  if (first === undefined) return list;
  const end = list.pages.at(-1)!;
  const last = end.data.at(-1);
  const isBehind = (row: Row): boolean =>
    end.has_more && last !== undefined && placeOf(row) < placeOf(last);
  const fresh = unknownOf(list, rows).filter((row) => !isBehind(row));
  if (fresh.length === 0) return list;
  const data = [...fresh, ...first.data].sort(newestFirst);
  if (data.length <= keptMax) return { ...list, pages: [{ ...first, data }, ...others] };
  const kept = data.slice(0, keptMax);
  const page = { ...first, data: kept, has_more: true, next_cursor: kept.at(-1)!.id };
  return { pages: [page], pageParams: list.pageParams.slice(0, 1) };
}

/** Rows that came by the stream, among those of the list: each once, in the list's order. Pure. */
import type { Schemas } from "../../api/client.ts";

export type Page = Schemas["RequestRows"];
export type Row = Page["data"][number];

/** What an infinite query keeps. */
export interface Pages {
  readonly pages: readonly Page[];
  readonly pageParams: readonly unknown[];
}

/** Rows that are kept while new ones come in: the rest is read again where somebody scrolls to it. */
const keptMax = 500;

/** Ids sort by time behind their prefix. */
const placeOf = ({ id }: { readonly id: string }): string => id.slice(id.indexOf("_") + 1);

const newestFirst = (one: Row, other: Row): number => (placeOf(one) < placeOf(other) ? 1 : -1);

/** Those of the rows that are not in the list yet. */
export function unknownOf(list: Pages, rows: readonly Row[]): Row[] {
  const known = new Set(list.pages.flatMap(({ data }) => data.map(({ id }) => id)));
  return rows.filter(({ id }) => !known.has(id));
}

/** The list with the rows. What belongs behind its end is left to the page that comes next. */
export function merged(list: Pages, rows: readonly Row[]): Pages {
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

/**
 * Joins the parts of an answer in one statement, with one snapshot: folded sums, calls that are not folded, and parts of hours. With
 * several groupings, each has its parts; the calls that the sums lack are looked up once for all of them.
 */
import { edges, hourPart, unfolded, edgeRows, hourPartRows, unfoldedRows } from "./unfolded.ts";
import { dayDimension, days, hours } from "./parts.ts";
import { UsageQuery, type Bind, type UsageRequest } from "./usage-query.ts";
import { divide } from "./segments.ts";

const all = "\n union all ";

const endName = (place: number): string => `end_${place}`;

/** Returns the rows of one grouping. The calls that the sums lack are in a table, because they may be read more than once. */
function groupedParts(
  wanted: UsageRequest,
  bind: Bind,
  near: string,
): { table: string; parts: string } {
  const { dimension, ...read } = divided(wanted);
  const query = new UsageQuery(wanted, bind);
  const rows = [
    unfoldedRows(query, read.whole),
    ...read.ends.map((one, place) => hourPartRows(query, endName(place), one)),
    ...(read.edges.length === 0 ? [] : [edgeRows(query)]),
  ];
  return {
    table: `${near} as materialized (${rows.join(all)})`,
    parts: [
      ...(read.days === undefined || dimension === undefined
        ? []
        : days(query, read.days, dimension)),
      ...read.hours.map((span) => hours(query, span)),
      `select * from ${near}`,
    ].join(all),
  };
}

/** Returns how the period is read, and the dimension of its days. */
function divided(wanted: UsageRequest) {
  const { period, granularity, starts, wholeSince, splitSince } = wanted;
  // The sums by day are of days in UTC.
  const dimension =
    granularity !== "hour" && starts === undefined ? dayDimension(wanted) : undefined;
  const byDay = dimension !== undefined;
  return { ...divide(period, { byDay, wholeSince, starts, splitSince }), dimension };
}

/**
 * Returns the tables, and for each grouping the union of its parts. The groupings share one look-up of the calls that the sums lack, which
 * is most of a query's cost.
 */
export function partsSql(
  [first, ...others]: readonly [UsageRequest, ...UsageRequest[]],
  bind: Bind,
): { tables: string; parts: readonly string[] } {
  const shared = new UsageQuery(first, bind);
  const read = divided(first);
  const grouped = [first, ...others].map((wanted, place) =>
    groupedParts(wanted, bind, `near_parts_${place}`),
  );
  const tables = [
    unfolded(shared, read.whole),
    ...read.ends.map((span, place) => hourPart(shared, endName(place), span)),
    ...(read.edges.length === 0 ? [] : [edges(shared, read.edges)]),
    ...grouped.map(({ table }) => table),
  ];
  return { tables: tables.join(", "), parts: grouped.map(({ parts }) => parts) };
}

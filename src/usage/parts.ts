/**
 * The parts of an answer that come from the sums, as SQL with the same columns: `start` (of the period), `of` (the row's group) and the
 * sums. union.ts joins them.
 */
import type { UsageQuery, UsageRequest } from "./usage-query.ts";
import type { Span } from "./segments.ts";
import type { Dimension } from "./sums.ts";

/** Columns of `usage_days` that are not its dimension. */
const free: ReadonlySet<string> = new Set(["workspace_id", "member_id"]);

/** Returns the dimension by which days can be read: the only one that is wanted; undefined if there are two. */
export function dayDimension({ of, equal }: UsageRequest): Dimension | "total" | undefined {
  const asked = new Set([...(of === undefined ? [] : [of]), ...Object.keys(equal)]);
  const rest = [...asked].filter((name) => !free.has(name)) as Dimension[];
  return rest.length > 1 ? undefined : (rest[0] ?? "total");
}

/** Returns the dimension's name in `usage_days`. */
const dayName = (dimension: Dimension | "total"): string =>
  dimension === "key_id" ? "key" : dimension;

/** A table with sums by day and by one dimension. */
interface DayTable {
  readonly from: string;
  /** The condition that selects its rows. */
  readonly named: string;
  readonly of: string | undefined;
  readonly isTaken?: boolean;
}

export function days(query: UsageQuery, span: Span, dimension: Dimension | "total"): string[] {
  const { of, tag } = query.wanted;
  const table = (): DayTable => ({
    from: "usage_days",
    named: `d.dimension = ${query.bind(dayName(dimension))}`,
    of: dimension === "total" || of !== dimension ? of : "value",
  });
  if (tag === undefined) return daysOf(query, span, table());
  const tagged = { from: "usage_tags", named: `d.name = ${query.bind(tag.name)}` };
  if (tag.value !== undefined) {
    const only = `${tagged.named} and d.value = ${query.bind(tag.value)}`;
    return daysOf(query, span, { ...tagged, named: only, of: tag.grouped ? "value" : of });
  }
  // Calls without the tag: the day's total minus all values.
  return [
    ...daysOf(query, span, { ...tagged, of: "value" }),
    ...daysOf(query, span, table()),
    ...daysOf(query, span, { ...tagged, of: undefined, isTaken: true }),
  ];
}

/** Rows of a table of days, grouped by its column `of`; negated if `isTaken`. */
function daysOf(query: UsageQuery, span: Span, table: DayTable): string[] {
  const { of, equal, visibility } = query.wanted;
  const dayOf = (at: Date): string => `${query.bind(at.toISOString().slice(0, 10))}::date`;
  const where = [
    table.named,
    `d.day >= ${dayOf(span.from)} and d.day < ${dayOf(span.to)}`,
    ...Object.entries(equal).map(
      ([name, wanted]) => `d.${free.has(name) ? name : "value"} = ${query.bind(wanted)}`,
    ),
  ].join(" and ");
  const select = (seen: string): string => `
    select ${query.start("d.day::timestamp")} as start, ${table.of === undefined ? "''" : `d.${table.of}`} as of,
      ${table.isTaken === true ? query.taken : query.sums}
    from ${table.from} d where ${where} and ${seen}`;
  const byMember = of === "member_id" || equal.member_id !== undefined;
  const whole = byMember ? "d.of_member" : "not d.of_member and d.member_id = ''";
  const parts: string[] = [];
  if (visibility.everything) parts.push(select(whole));
  else if (visibility.workspaceIds.length > 0)
    parts.push(select(`${whole} and d.workspace_id = any(${query.whole})`));
  if (!visibility.everything && visibility.ownWorkspaceIds.length > 0)
    parts.push(
      select(
        `d.of_member and d.member_id = ${query.user} and d.workspace_id = any(${query.own})
         and d.workspace_id <> all(${query.whole})`,
      ),
    );
  return parts;
}

export function hours(query: UsageQuery, span: Span): string {
  const { of } = query.wanted;
  return `select ${query.start("x.hour at time zone 'UTC'")} as start, ${of === undefined ? "''" : `x.${of}`} as of, ${query.sums}
    from usage_hours x where ${query.within("x.hour", span)} and ${query.fits("x")}`;
}

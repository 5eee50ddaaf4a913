/** Checks usage queries by tag, and rounds their period to days. docs/tags.md. */
import { dayMs } from "../../base/durations.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import { usageGroups, type UsageGroup } from "../../base/management.ts";
import type { UsageFilter } from "../../usage/index.ts";
import { tagPairs } from "../../base/tags.ts";
import { zoneParam } from "./usage-zone.ts";

const prefix = "tag:";

/** The pattern of `group_by` for a tag, besides the fixed groups. */
export const tagGroupPattern = `^${prefix}.{1,64}$`;
/** The pattern of a tag and its value. Both may have colons, but a name does not begin with one. */
export const tagFilterPattern = "^[^:]{1,64}:[^]{1,512}$";

interface TagQuery {
  readonly group_by?: string | undefined;
  readonly tag?: string | undefined;
}

/** Returns the group and the tag of a query. @throws GatewayError `invalid_value` for a tag that is not listed */
export function groupOf(
  { group_by: group, tag: filter }: TagQuery,
  listed: readonly string[],
): Pick<UsageFilter, "groupBy" | "tag"> {
  const isKnown = (usageGroups as readonly string[]).includes(group ?? "");
  const groupBy = isKnown ? (group as UsageGroup) : undefined;
  const grouped = group !== undefined && !isKnown ? group.slice(prefix.length) : undefined;
  const [name, value] = pairOf(filter, grouped, listed);
  if (name === undefined) return { groupBy };
  const param = filter === undefined ? "group_by" : "tag";
  if (!listed.includes(name)) throw notListed(name, param);
  if (grouped !== undefined && grouped !== name)
    throw invalidValue("tag", "and `group_by` must name the same tag");
  return { groupBy, tag: { name, value, grouped: grouped !== undefined } };
}

/** The tag of a query and its value. A filter may mean several names: the grouped one counts, else a listed one. */
function pairOf(
  filter: string | undefined,
  grouped: string | undefined,
  listed: readonly string[],
): readonly [name: string | undefined, value?: string] {
  if (filter === undefined) return [grouped];
  const pairs = tagPairs(filter);
  const nameIn = (names: readonly unknown[]) => pairs.find(([name]) => names.includes(name));
  return nameIn([grouped]) ?? nameIn(listed) ?? pairs[0] ?? [filter];
}

function notListed(name: string, param: string): GatewayError {
  const shown = name.slice(0, 64);
  const message = `Usage is not summed by \`${shown}\`: add it to \`tags.usage\` in the configuration file. It counts from then on.`;
  return new GatewayError("invalid_value", message, { param });
}

/** The filters that the sums by tag support beside the tag. */
const known: ReadonlySet<string> = new Set(["workspace_id", "member_id"]);
const knownGroups: ReadonlySet<UsageGroup> = new Set(["workspace", "member"]);

/**
 * Extends a query by tag to the whole days (UTC) that it touches. @throws GatewayError `invalid_value` for parameters that daily sums
 * do not support
 */
export function byDays(filter: UsageFilter): UsageFilter {
  const { from, to, tag, groupBy, alsoBy = [] } = filter;
  if (tag === undefined) return filter;
  if (filter.granularity === "hour") throw notByDay("granularity");
  if (filter.timeZone !== undefined) throw notByDay(zoneParam(filter.timeZone));
  if (groupBy !== undefined && !knownGroups.has(groupBy)) throw notByDay("group_by");
  // Without a tag value, `also_by` sums all calls, so any group is allowed.
  if (tag.value !== undefined && alsoBy.some((group) => !knownGroups.has(group)))
    throw notByDay("also_by");
  for (const [name, value] of Object.entries(filter.equal ?? {}))
    if (value !== undefined && !known.has(name)) throw notByDay(name);
  return {
    ...filter,
    from: new Date(Math.floor(from.getTime() / dayMs) * dayMs),
    to: new Date(Math.ceil(to.getTime() / dayMs) * dayMs),
  };
}

const notByDay = (param: string): GatewayError =>
  new GatewayError(
    "invalid_value",
    `Usage by tag has whole days in UTC, months and totals, for workspaces and members only. Leave out \`${param}\` or the tag.`,
    { param },
  );

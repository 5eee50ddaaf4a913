/** What a question about usage by a tag may ask, and of which days it is answered. docs/tags.md. */
import { dayMs } from "../../base/durations.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import { usageGroups, type UsageGroup } from "../../base/management.ts";
import type { UsageFilter } from "../../usage/index.ts";
import { zoneParam } from "./usage-zone.ts";

const prefix = "tag:";

/** What `group_by` may be beside the groups that there always are. */
export const tagGroupPattern = `^${prefix}.{1,64}$`;
/** A tag and its value. Its name has no colon here; its value may have some. */
export const tagFilterPattern = "^[^:]{1,64}:[^]{1,512}$";

interface Asked {
  readonly group_by?: string | undefined;
  readonly tag?: string | undefined;
}

/** What a question groups by, and the tag that it names. @throws GatewayError `invalid_value` for a tag that is not listed */
export function groupOf(
  { group_by: group, tag: filter }: Asked,
  listed: readonly string[],
): Pick<UsageFilter, "groupBy" | "tag"> {
  const isKnown = (usageGroups as readonly string[]).includes(group ?? "");
  const groupBy = isKnown ? (group as UsageGroup) : undefined;
  const grouped = group !== undefined && !isKnown ? group.slice(prefix.length) : undefined;
  const colon = filter?.indexOf(":") ?? 0;
  const name = filter === undefined ? grouped : filter.slice(0, colon);
  if (name === undefined) return { groupBy };
  const param = filter === undefined ? "group_by" : "tag";
  if (!listed.includes(name)) throw notListed(name, param);
  if (grouped !== undefined && grouped !== name)
    throw invalidValue("tag", "and `group_by` must name the same tag");
  const value = filter?.slice(colon + 1);
  return { groupBy, tag: { name, value, grouped: grouped !== undefined } };
}

function notListed(name: string, param: string): GatewayError {
  const shown = name.slice(0, 64);
  const message = `Usage is not summed by \`${shown}\`: add it to \`tags.usage\` in the configuration file. It counts from then on.`;
  return new GatewayError("invalid_value", message, { param });
}

/** What the sums by tags know of a call beside the tag. */
const known: ReadonlySet<string> = new Set(["workspace_id", "member_id"]);
const knownGroups: ReadonlySet<UsageGroup> = new Set(["workspace", "member"]);

/** A question about a tag over the whole days (UTC) that it touches. @throws GatewayError `invalid_value` for what days do not have */
export function byDays(filter: UsageFilter): UsageFilter {
  const { from, to, tag, groupBy, alsoBy = [] } = filter;
  if (tag === undefined) return filter;
  if (filter.granularity === "hour") throw notByDay("granularity");
  if (filter.timeZone !== undefined) throw notByDay(zoneParam(filter.timeZone));
  if (groupBy !== undefined && !knownGroups.has(groupBy)) throw notByDay("group_by");
  // Groups beside the values of a tag are of all calls.
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
    `By tags there are days in UTC, months and totals, of workspaces and members. Leave out \`${param}\`, or ask without a tag.`,
    { param },
  );

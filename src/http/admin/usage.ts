/** Usage and its cost, over the management API. docs/management.md. */
import { dayMs, hourMs } from "../../base/durations.ts";
import { visibilityOf } from "../../admin/index.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import type { UsageGroup } from "../../base/management.ts";
import { readUsageBy, usageRowsMax, type AlsoBy, type UsageFilter } from "../../usage/index.ts";
import { route } from "./route.ts";
import { fullList, periodOf } from "./schemas.ts";
import { filterNames, usageAnswer, usageCsv, usageQuery } from "./usage-shapes.ts";
import { byDays, groupOf } from "./usage-tags.ts";
import { zoneDaysMax, zoneOf, zoneParam } from "./usage-zone.ts";

const daysDefault = 30;

/** Splits a list of groups at its commas; each group once. */
const groupsIn = (list: string | undefined): readonly UsageGroup[] =>
  list === undefined ? [] : [...new Set(list.split(",") as UsageGroup[])];

/** @throws GatewayError `invalid_value` */
function checkFilter({ from, to, groupBy, alsoBy, tag, top, timeZone }: UsageFilter): void {
  const isGrouped = groupBy !== undefined || tag?.grouped === true || (alsoBy?.length ?? 0) > 0;
  if (top !== undefined && !isGrouped) {
    throw invalidValue("top", "needs `group_by` or `also_by`");
  }
  if (timeZone === undefined) return;
  const param = zoneParam(timeZone);
  // A month in which daylight saving time ends is an hour longer.
  if (to.getTime() - from.getTime() > zoneDaysMax * dayMs + hourMs) {
    throw new GatewayError(
      "invalid_value",
      `With \`${param}\`, a period has at most ${zoneDaysMax} days. Leave it out for a longer period, in UTC.`,
      { param },
    );
  }
}

const renderAlso = ({ group, rows, isCut }: AlsoBy) => ({
  group_by: group,
  data: rows,
  has_more: isCut,
});

const usage = route({
  method: "GET",
  path: "/usage",
  operationId: "getUsage",
  summary: "Requests, tokens and cost, by period and group",
  description: `Costs are the sums of the ledger's charges in each period, so they add up to the ledger to the last nano-dollar. A call counts when it was charged; free calls count at their start time. Model, provider, tokens and times come from the request log: if it lost a row, the cost has a null model. Sums are current, whatever the age of the log. Without \`from\` the ${daysDefault} days before \`to\`; periods are in UTC. At most ${usageRowsMax} rows.`,
  action: "usage.read",
  query: usageQuery,
  answer: { name: "Usage", schema: usageAnswer },
  csv: usageCsv,
  async handle({ services, actor, query }) {
    const period = periodOf(query);
    const to = period.to ?? new Date(services.clock.now() + 1);
    const from = period.from ?? new Date(to.getTime() - daysDefault * dayMs);
    if (from >= to) {
      throw invalidValue("from", "must be before `to`");
    }
    const granularity = query.granularity ?? "total";
    const asked = byDays({
      visibility: visibilityOf(actor, "usage.read"),
      from,
      to,
      granularity,
      ...groupOf(query, services.usageTags),
      equal: Object.fromEntries(filterNames.map((name) => [name, query[name]])),
      alsoBy: groupsIn(query.also_by),
      top: query.top === undefined ? undefined : Number(query.top),
      timeZone: zoneOf(query),
    });
    checkFilter(asked);
    await services.logWritten();
    const { rows, also } = await services.reads.read((database) => readUsageBy(database, asked));
    const head = { from: asked.from.toISOString(), to: asked.to.toISOString(), granularity };
    const others = query.also_by !== undefined && { also: also.map(renderAlso) };
    return {
      body: { ...head, group_by: query.group_by ?? null, ...fullList(rows).body, ...others },
    };
  },
});

export const usageRoutes = [usage];

/** What was used and what it cost, over the management API. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { readUsage, sumNames, usageRowsMax, visibilityOf } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { granularities, usageGroups } from "../../base/management.ts";
import { oneOf, orNull, timestamp, usd } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { strict, timeBody, timeOf, words } from "./schemas.ts";

const dayMs = 24 * 60 * 60 * 1000;
const daysDefault = 30;

const group = (description: string) => Type.Optional(orNull(Type.String({ description })));

const row = Type.Object({
  start: timestamp("The beginning of the row's period; `from` where there is one period."),
  model: group(
    "Of `group_by=model`. null: refused before a model was chosen, or not known any more.",
  ),
  key_id: group("Of `group_by=key`."),
  provider: group("Of `group_by=provider`. null: nobody answered."),
  member_id: group("Of `group_by=member`: the user whose key it is."),
  member_email: group("Of `group_by=member`: their address. null: the admin token's keys."),
  workspace_id: group("Of `group_by=workspace`."),
  requests: Type.Integer({ description: "Calls and tasks, failed ones too." }),
  ...Object.fromEntries(sumNames.map((name) => [name, Type.Number()])),
  cost: usd("What the ledger charged within the period."),
});

const usage = route({
  method: "GET",
  path: "/usage",
  operationId: "getUsage",
  summary: "Requests, tokens and cost, by period and by what used them",
  description: `Costs are the sums of the ledger's charges in each period, so they add up to the ledger to the last nano-dollar; a call counts when it was charged, and free calls count at their start time. The request log tells model, provider and tokens: where it lost a row, the cost is there with a null model. Without \`from\` the ${daysDefault} days before \`to\`; periods are in UTC. At most ${usageRowsMax} rows.`,
  action: "usage.read",
  query: strict({
    from: Type.Optional(timeBody),
    to: Type.Optional(timeBody),
    granularity: Type.Optional(words(...granularities)),
    group_by: Type.Optional(words(...usageGroups)),
    workspace_id: Type.Optional(Type.String()),
    key_id: Type.Optional(Type.String()),
  }),
  answer: {
    name: "Usage",
    schema: Type.Object({
      from: timestamp("The first moment that counts."),
      to: timestamp("The first moment that does not."),
      granularity: oneOf(...granularities),
      group_by: orNull(oneOf(...usageGroups)),
      data: Type.Array(row),
    }),
  },
  async handle({ services, actor, query }) {
    const to = timeOf(query.to, "to") ?? new Date(services.clock.now() + 1);
    const from = timeOf(query.from, "from") ?? new Date(to.getTime() - daysDefault * dayMs);
    if (from >= to) {
      throw new GatewayError("invalid_value", "`from` must be before `to`.", { param: "from" });
    }
    const granularity = query.granularity ?? "total";
    await services.logWritten();
    const data = await readUsage(services.database, {
      visibility: visibilityOf(actor, "usage.read"),
      from,
      to,
      granularity,
      groupBy: query.group_by,
      workspaceId: query.workspace_id,
      keyId: query.key_id,
    });
    const head = { from: from.toISOString(), to: to.toISOString(), granularity };
    return { body: { ...head, group_by: query.group_by ?? null, data } };
  },
});

export const usageRoutes = [usage];

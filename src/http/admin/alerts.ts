/** Alerts about spend caps, over the management API. docs/callbacks.md "Spend caps". */
import { Type } from "../../base/json-schema.ts";
import { listAlerts, visibilityOf } from "../../admin/index.ts";
import { oneOf, orNull, timestamp, usd } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { filterText, pageOfQuery, pageQuery, pageSchema, renderPage, strict } from "./schemas.ts";

const alert = Type.Object({
  id: Type.String(),
  object: Type.Literal("spend_alert"),
  workspace_id: Type.String(),
  layer: oneOf("workspace", "member", "key"),
  layer_id: Type.String({ description: "The id of the workspace, the user or the key." }),
  name: orNull(Type.String({ description: "The current name; for a member, the e-mail address." })),
  window: oneOf("total", "monthly", "weekly", "daily"),
  threshold: Type.Integer({ description: "Percent of the cap.", examples: [80] }),
  cap: usd("The cap as it was."),
  spent: usd("The charge by then."),
  refused: Type.Boolean({
    description: "A hard cap refused a call then, although less than the threshold was charged.",
  }),
  created_at: timestamp("When it was detected, within seconds of the charge."),
});

const list = route({
  method: "GET",
  path: "/alerts",
  operationId: "listAlerts",
  summary: "Alerts about spend caps, newest first",
  description:
    "One for each cap, period and threshold (`alert_thresholds` of the workspace). Kept for two months. Workspace admins see those of their workspaces, members those about themselves and their own keys.",
  action: "usage.read",
  query: strict({ workspace_id: filterText, ...pageQuery }),
  answer: { name: "SpendAlerts", schema: pageSchema(alert) },
  async handle({ services, actor, query }) {
    const page = await listAlerts(services.database, {
      ...pageOfQuery(query),
      workspaceId: query.workspace_id,
      visibility: visibilityOf(actor, "usage.read"),
    });
    return { body: renderPage(page, page.records) };
  },
});

export const alertRoutes = [list];

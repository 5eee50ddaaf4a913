/** Renders a workspace for the management API, and defines its settings. Requirements: CAP-10, ALLOW, ROUTE. */
import { camelCased } from "../../base/casing.ts";
import { Type, type Static } from "../../base/json-schema.ts";
import { allows, etagOf, workspaceKind, readSpends, type Actor } from "../../admin/index.ts";
import { parseSafeUrl } from "../../base/safe-url.ts";
import {
  getOrganization,
  parseCreditLine,
  parseLowBalance,
  renderSpend,
  thresholdsMax,
  type Workspace,
} from "../../tenancy/index.ts";
import { orNull } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import type { AdminAnswer } from "./route.ts";
import {
  allowlistBody,
  creditLine,
  nullable,
  rateLimitsBody,
  rateLimitsOf,
  routingBody,
  routingOf,
  spendCapsBody,
  spendCapsOf,
  strict,
  words,
} from "./schemas.ts";
import { scopeOfLayer } from "./scope.ts";
import { layerFields, spendFields, stamps } from "./shapes.ts";

const thresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
  maxItems: thresholdsMax,
  description:
    "The percentages of a spend cap at which there is an alert, for the workspace, its members and its keys. null in a change: 50, 80 and 100; empty: none.",
  examples: [[50, 80, 100]],
});

const lowBalance = nullable(
  Type.String({
    pattern: String.raw`^\d{1,10}(\.\d{1,9})?$`,
    description:
      "USD: an alert is sent when credits and credit line fall to this amount. null: none.",
    examples: ["20"],
  }),
);

export const workspace = Type.Object({
  id: Type.String(),
  object: Type.Literal("workspace"),
  organization_id: orNull(Type.String({ description: "null: a personal workspace." })),
  name: Type.String(),
  status: words("active", "disabled"),
  ...spendFields,
  credit_line: creditLine,
  ...layerFields,
  alert_webhook_url: orNull(
    Type.String({
      description:
        "The address for alerts about its spend caps and its balance; null: none. Members see only its host: `https://hooks.example.com/****`.",
    }),
  ),
  alert_thresholds: thresholds,
  low_balance_alert: lowBalance,
  keep_bodies: words("off", "errors", "all"),
  body_retention_days: Type.Integer(),
  ...stamps,
});
export const workspaceSchema = { name: "Workspace", schema: workspace };

/** The settings of a workspace. */
export const settings = {
  spend_caps: Type.Optional(spendCapsBody),
  credit_line: Type.Optional(creditLine),
  model_allowlist: Type.Optional(allowlistBody),
  routing: Type.Optional(routingBody),
  rate_limits: Type.Optional(rateLimitsBody),
  alert_webhook_url: Type.Optional(nullable(Type.String({ maxLength: 2048 }))),
  alert_thresholds: Type.Optional(nullable(thresholds)),
  low_balance_alert: Type.Optional(lowBalance),
  keep_bodies: Type.Optional(
    Type.Unsafe<"off" | "errors" | "all">({
      type: "string",
      enum: ["off", "errors", "all"],
      description:
        "Which calls are stored word for word: none, failed ones, or all. Everyone who may read a request may read its texts.",
    }),
  ),
  body_retention_days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 90, description: "7 if never set." }),
  ),
};
/** The body of a change. */
export const patch = strict({
  name: Type.Optional(Type.String()),
  status: Type.Optional(words("active", "disabled")),
  ...settings,
});

/** Converts the settings of a body for `tenancy`. @throws GatewayError `invalid_value` */
export const settingsOf = (body: Static<typeof patch>) => ({
  ...camelCased(body),
  spendCaps: spendCapsOf(body.spend_caps),
  routing: routingOf(body.routing),
  rateLimits: rateLimitsOf(body.rate_limits),
  creditLineNano: body.credit_line === undefined ? undefined : parseCreditLine(body.credit_line),
  alertWebhookUrl: alertUrlOf(body.alert_webhook_url),
  lowBalanceNano:
    body.low_balance_alert === undefined ? undefined : parseLowBalance(body.low_balance_alert),
});

/** Requires HTTPS. The address that it resolves to is checked at every attempt. */
function alertUrlOf(url: string | null | undefined): string | null | undefined {
  if (url === undefined || url === null) return url;
  return parseSafeUrl(url, { https: true, allowPrivate: true, param: "alert_webhook_url" }).href;
}

/** Hides the path and query from actors who may not change the address: they often hold a secret. */
function alertUrlFor(actor: Actor, record: Workspace): string | null {
  const url = record.alertWebhookUrl;
  if (url === null || allows(actor, "workspace.change", workspaceKind.place(record))) return url;
  return `${new URL(url).origin}/****`;
}

/** Renders workspaces for this actor. Reads each organization once, and the spend of all workspaces at once. */
export async function render(
  services: AdminServices,
  records: readonly Workspace[],
  actor: Actor,
): Promise<object[]> {
  const ids = [...new Set(records.flatMap(({ organizationId }) => organizationId ?? []))];
  const places = records.map(({ id }) => ({ workspaceId: id, id }));
  const [organizations, spends] = await Promise.all([
    Promise.all(ids.map((id) => getOrganization(services, id))),
    readSpends(services.database, "workspace", places),
  ]);
  const catalog = services.catalog();
  return records.map((record, at) => ({
    id: record.id,
    object: "workspace",
    ...workspaceKind.view(record),
    alert_webhook_url: alertUrlFor(actor, record),
    ...renderSpend(record.spendCaps, spends[at]!),
    ...scopeOfLayer(
      catalog,
      record.modelAllowlist,
      organizations.filter(({ id }) => id === record.organizationId),
    ),
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
  }));
}

/** Answers with one workspace. */
export const answer = async (
  services: AdminServices,
  record: Workspace,
  actor: Actor,
): Promise<AdminAnswer> => {
  const [body] = await render(services, [record], actor);
  return { body: body!, etag: etagOf(workspaceKind.view(record)) };
};

/** Workspaces over the management API. Requirements: CAP-10, CAP-11, ALLOW, ROUTE. */
import { camelCased } from "../../base/casing.ts";
import { Type, type Static } from "../../base/json-schema.ts";
import {
  allows,
  changeObject,
  createObject,
  etagOf,
  permit,
  readObject,
  sameCaps,
  visibilityOf,
  workspaceKind,
  readSpend,
  type Actor,
} from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import { parseSafeUrl } from "../../base/safe-url.ts";
import {
  changeWorkspace,
  createWorkspace,
  getOrganization,
  getWorkspace,
  listWorkspaces,
  parseCreditLine,
  parseLowBalance,
  renderSpend,
  sameRateLimits,
  thresholdsMax,
  type Workspace,
} from "../../tenancy/index.ts";
import { orNull } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import { namedBy } from "./named-by.ts";
import { route, type AdminAnswer } from "./route.ts";
import {
  allowlistBody,
  creditLine,
  nullable,
  pageOfQuery,
  pageQuery,
  pageSchema,
  rateLimitsBody,
  rateLimitsOf,
  renderPage,
  routingBody,
  routingOf,
  spendCapsBody,
  spendCapsOf,
  strict,
  words,
} from "./schemas.ts";
import { checkProviders, scopeOfLayer } from "./scope.ts";
import { layerFields, spendFields, stamps } from "./shapes.ts";

const thresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
  maxItems: thresholdsMax,
  description:
    "At which percentages of a spend cap of the workspace, its members and its keys there is an alert. null in a change: 50, 80 and 100; empty: none.",
  examples: [[50, 80, 100]],
});

const lowBalance = nullable(
  Type.String({
    pattern: String.raw`^\d{1,10}(\.\d{1,9})?$`,
    description:
      "USD: a warning is sent when no more than this is left of credits and credit line. null: none.",
    examples: ["20"],
  }),
);

const workspace = Type.Object({
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
        "Where alerts about its spend caps and its balance are posted; null: nowhere. Members see no more than its host: `https://hooks.example.com/****`.",
    }),
  ),
  alert_thresholds: thresholds,
  low_balance_alert: lowBalance,
  keep_bodies: words("off", "errors", "all"),
  body_retention_days: Type.Integer(),
  ...stamps,
});
const workspaceSchema = { name: "Workspace", schema: workspace };

const settings = {
  spend_caps: Type.Optional(spendCapsBody),
  credit_line: Type.Optional(creditLine),
  model_allowlist: Type.Optional(allowlistBody),
  routing: Type.Optional(routingBody),
  rate_limits: Type.Optional(rateLimitsBody),
  alert_webhook_url: Type.Optional(nullable(Type.String({ maxLength: 2048 }))),
  alert_thresholds: Type.Optional(nullable(thresholds)),
  low_balance_alert: Type.Optional(lowBalance),
  keep_bodies: Type.Optional(
    Type.Union([Type.Literal("off"), Type.Literal("errors"), Type.Literal("all")], {
      description:
        "Whether calls are kept word for word: none, those that failed, or all. Read by who may read the request.",
    }),
  ),
  body_retention_days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 90, description: "7 if never set." }),
  ),
};
const patch = strict({
  name: Type.Optional(Type.String()),
  status: Type.Optional(words("active", "disabled")),
  ...settings,
});

const settingsOf = (body: Static<typeof patch>) => ({
  ...camelCased(body),
  spendCaps: spendCapsOf(body.spend_caps),
  routing: routingOf(body.routing),
  rateLimits: rateLimitsOf(body.rate_limits),
  creditLineNano: body.credit_line === undefined ? undefined : parseCreditLine(body.credit_line),
  alertWebhookUrl: alertUrlOf(body.alert_webhook_url),
  lowBalanceNano:
    body.low_balance_alert === undefined ? undefined : parseLowBalance(body.low_balance_alert),
});

/** Must be HTTPS; where it leads is checked at every try. */
function alertUrlOf(url: string | null | undefined): string | null | undefined {
  if (url === undefined || url === null) return url;
  return parseSafeUrl(url, { https: true, allowPrivate: true, param: "alert_webhook_url" }).href;
}

/** Such addresses often hold a secret: for who may not change it, of its path and query only that there is one. */
function alertUrlFor(actor: Actor, record: Workspace): string | null {
  const url = record.alertWebhookUrl;
  if (url === null || allows(actor, "workspace.change", workspaceKind.place(record))) return url;
  return `${new URL(url).origin}/****`;
}

async function render(services: AdminServices, record: Workspace, actor: Actor): Promise<object> {
  const above =
    record.organizationId === null ? [] : [await getOrganization(services, record.organizationId)];
  return {
    id: record.id,
    object: "workspace",
    ...workspaceKind.view(record),
    alert_webhook_url: alertUrlFor(actor, record),
    ...renderSpend(
      record.spendCaps,
      await readSpend(services.database, record.id, { layer: "workspace", id: record.id }),
    ),
    ...scopeOfLayer(services.catalog(), record.modelAllowlist, above),
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
  };
}

const answer = async (
  services: AdminServices,
  record: Workspace,
  actor: Actor,
): Promise<AdminAnswer> => ({
  body: await render(services, record, actor),
  etag: etagOf(workspaceKind.view(record)),
});

/** CAP-11: the caps of a workspace are an organization's means; a personal workspace has none. */
function refusePersonalCaps({ organizationId, spendCaps }: Workspace): void {
  const { totalNano, monthlyNano, weeklyNano, dailyNano } = spendCaps;
  const capped = [totalNano, monthlyNano, weeklyNano, dailyNano].some((cap) => cap !== null);
  if (organizationId !== null || !capped) return;
  throw new GatewayError(
    "unsupported_parameter",
    "A personal workspace has no spend caps; only workspaces of an organization do.",
    { param: "spend_caps" },
  );
}

const create = route({
  method: "POST",
  path: "/workspaces",
  operationId: "createWorkspace",
  summary: "Make a workspace",
  description: "Without `organization_id` it is a personal workspace, which has no spend caps.",
  action: "workspace.create",
  body: strict({
    name: Type.String(),
    organization_id: Type.Optional(nullable(Type.String())),
    ...settings,
  }),
  example: { name: "Team", organization_id: "org_01kacw5v2pf6q8p5b0d6m1x7yt" },
  answer: workspaceSchema,
  status: 201,
  errors: ["insufficient_permissions", "not_found"],
  async handle(request) {
    const { services, actor, body } = request;
    const input = settingsOf(body);
    checkProviders(services.catalog(), input.routing);
    const record = await namedBy("organization_id", () =>
      createObject(services, workspaceKind, request, {
        action: "workspace.create",
        place: () => Promise.resolve({ place: {}, what: "workspace" }),
        async create(context) {
          const made = await createWorkspace(context, {
            ...input,
            name: body.name,
            organizationId: body.organization_id ?? null,
          });
          refusePersonalCaps(made);
          return made;
        },
        row: (made) => made,
      }),
    );
    return answer(services, record, actor);
  },
});

const list = route({
  method: "GET",
  path: "/workspaces",
  operationId: "listWorkspaces",
  summary: "List workspaces, newest first",
  action: "workspace.read",
  query: strict({ organization_id: Type.Optional(Type.String()), ...pageQuery }),
  answer: { name: "Workspaces", schema: pageSchema(workspace) },
  async handle({ services, actor, query }) {
    const page = await listWorkspaces(services, {
      ...pageOfQuery(query),
      organizationId: query.organization_id,
      visibility: visibilityOf(actor, "workspace.read"),
    });
    const data = await Promise.all(page.records.map((record) => render(services, record, actor)));
    return { body: renderPage(page, data) };
  },
});

const read = route({
  method: "GET",
  path: "/workspaces/{id}",
  operationId: "getWorkspace",
  summary: "Read a workspace",
  action: "workspace.read",
  answer: workspaceSchema,
  errors: ["not_found"],
  async handle({ services, actor, params }) {
    const record = await readObject(workspaceKind, { actor }, "workspace.read", () =>
      getWorkspace(services, params["id"]!),
    );
    return answer(services, record, actor);
  },
});

const change = route({
  method: "PATCH",
  path: "/workspaces/{id}",
  operationId: "changeWorkspace",
  conditional: true,
  summary: "Change a workspace",
  description:
    "Spend caps, rate limits, credit line and status take an organization admin. null: no limit. Absent: unchanged.",
  action: "workspace.change",
  body: patch,
  example: { spend_caps: { monthly: "500.00", hard: true } },
  answer: workspaceSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { services, actor, params, body } = request;
    const input = settingsOf(body);
    const id = params["id"]!;
    const record = await changeObject(services, workspaceKind, request, {
      action: "workspace.change",
      load: (context) => getWorkspace(context, id, { forUpdate: true }),
      async apply(context, before) {
        checkProviders(services.catalog(), input.routing, before.routing);
        const after = await changeWorkspace(context, id, input);
        const place = workspaceKind.place(before);
        if (!sameCaps(before.spendCaps, after.spendCaps)) {
          permit(actor, "workspace.set_spend_caps", place, workspaceKind.what);
          refusePersonalCaps(after);
        }
        if (before.creditLineNano !== after.creditLineNano) {
          permit(actor, "workspace.set_credit_line", place, workspaceKind.what);
        }
        if (!sameRateLimits(before.rateLimits, after.rateLimits)) {
          permit(actor, "workspace.set_rate_limits", place, workspaceKind.what);
        }
        if (before.status !== after.status) {
          permit(actor, "workspace.set_status", place, workspaceKind.what);
        }
        return after;
      },
    });
    return answer(services, record, actor);
  },
});

export const workspaceRoutes = [create, list, read, change];

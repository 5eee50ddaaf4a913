/** Workspaces over the management API. Requirements: CAP-10, CAP-11, ALLOW, ROUTE. */
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  createObject,
  permit,
  sameCaps,
  visibilityOf,
  workspaceKind,
} from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import {
  changeWorkspace,
  createWorkspace,
  getWorkspace,
  listWorkspaces,
  sameRateLimits,
  type Workspace,
} from "../../tenancy/index.ts";
import { withParam } from "./with-param.ts";
import { readRoute } from "./read-route.ts";
import { route } from "./route.ts";
import {
  filterText,
  nullable,
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  strict,
} from "./schemas.ts";
import { checkProviders } from "./scope.ts";
import {
  answer,
  patch,
  render,
  settings,
  settingsOf,
  workspace,
  workspaceSchema,
} from "./workspace-views.ts";

/** CAP-11: only organizations can cap a workspace; a personal workspace has no caps. */
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
  errors: ["insufficient_permissions", "not_found", "unsupported_parameter"],
  async handle(request) {
    const { services, actor, body } = request;
    const input = settingsOf(body);
    checkProviders(services.catalog(), input.routing);
    const record = await withParam("organization_id", () =>
      createObject(services, workspaceKind, request, {
        action: "workspace.create",
        place: () => Promise.resolve({ place: {}, label: "workspace" }),
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
  query: strict({ organization_id: filterText, ...pageQuery }),
  answer: { name: "Workspaces", schema: pageSchema(workspace) },
  async handle({ services, actor, query }) {
    const page = await listWorkspaces(services, {
      ...pageOfQuery(query),
      organizationId: query.organization_id,
      visibility: visibilityOf(actor, "workspace.read"),
    });
    return { body: renderPage(page, await render(services, page.records, actor)) };
  },
});

const read = readRoute({
  path: "/workspaces/{id}",
  operationId: "getWorkspace",
  summary: "Read a workspace",
  action: "workspace.read",
  answer: workspaceSchema,
  kind: workspaceKind,
  load: (services, { id }) => getWorkspace(services, id!),
  render: answer,
});

const change = route({
  method: "PATCH",
  path: "/workspaces/{id}",
  operationId: "changeWorkspace",
  conditional: true,
  summary: "Change a workspace",
  description:
    "Only an organization admin may change spend caps, rate limits, credit line and status. null: no limit. Absent: unchanged.",
  action: "workspace.change",
  body: patch,
  example: { spend_caps: { monthly: "500.00", hard: true } },
  answer: workspaceSchema,
  errors: ["not_found", "insufficient_permissions", "unsupported_parameter"],
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
          permit(actor, "workspace.set_spend_caps", place, workspaceKind.label);
          refusePersonalCaps(after);
        }
        if (before.creditLineNano !== after.creditLineNano) {
          permit(actor, "workspace.set_credit_line", place, workspaceKind.label);
        }
        if (!sameRateLimits(before.rateLimits, after.rateLimits)) {
          permit(actor, "workspace.set_rate_limits", place, workspaceKind.label);
        }
        if (before.status !== after.status) {
          permit(actor, "workspace.set_status", place, workspaceKind.label);
        }
        return after;
      },
    });
    return answer(services, record, actor);
  },
});

export const workspaceRoutes = [create, list, read, change];

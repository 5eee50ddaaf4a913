/** Organizations over the management API: the outermost layer of model allowlists and routing. Requirements: ALLOW, ROUTE. */
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  createObject,
  etagOf,
  organizationIdsOf,
  organizationKind,
} from "../../admin/index.ts";
import {
  changeOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
  type Organization,
} from "../../tenancy/index.ts";
import type { AdminServices } from "../services.ts";
import { route, type AdminAnswer } from "./route.ts";
import { readRoute } from "./read-route.ts";
import {
  allowlistBody,
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  routingBody,
  routingOf,
  strict,
} from "./schemas.ts";
import { checkProviders, scopeOfLayer } from "./scope.ts";
import { layerFields, stamps } from "./shapes.ts";

const organization = Type.Object({
  id: Type.String(),
  object: Type.Literal("organization"),
  name: Type.String(),
  ...layerFields,
  ...stamps,
});
const organizationSchema = { name: "Organization", schema: organization };

const layer = {
  model_allowlist: Type.Optional(allowlistBody),
  routing: Type.Optional(routingBody),
};

function render({ catalog }: AdminServices, record: Organization): object {
  return {
    id: record.id,
    object: "organization",
    ...organizationKind.view(record),
    ...scopeOfLayer(catalog(), record.modelAllowlist, []),
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
  };
}

const answer = (services: AdminServices, record: Organization): AdminAnswer => ({
  body: render(services, record),
  etag: etagOf(organizationKind.view(record)),
});

const create = route({
  method: "POST",
  path: "/organizations",
  operationId: "createOrganization",
  summary: "Make an organization",
  action: "organization.create",
  body: strict({ name: Type.String(), ...layer }),
  example: { name: "Acme" },
  answer: organizationSchema,
  status: 201,
  errors: ["insufficient_permissions"],
  async handle(request) {
    const { services, body } = request;
    const routing = routingOf(body.routing);
    checkProviders(services.catalog(), routing);
    const record = await createObject(services, organizationKind, request, {
      action: "organization.create",
      place: () => Promise.resolve({ place: {}, label: "organization" }),
      create: (context) =>
        createOrganization(context, {
          name: body.name,
          modelAllowlist: body.model_allowlist,
          routing,
        }),
      row: (made) => made,
    });
    return answer(services, record);
  },
});

const list = route({
  method: "GET",
  path: "/organizations",
  operationId: "listOrganizations",
  summary: "List organizations, newest first",
  action: "organization.read",
  query: strict(pageQuery),
  answer: { name: "Organizations", schema: pageSchema(organization) },
  async handle({ services, actor, query }) {
    const page = await listOrganizations(services, {
      ...pageOfQuery(query),
      organizationIds: organizationIdsOf(actor),
    });
    return {
      body: renderPage(
        page,
        page.records.map((record) => render(services, record)),
      ),
    };
  },
});

const read = readRoute({
  path: "/organizations/{id}",
  operationId: "getOrganization",
  summary: "Read an organization",
  action: "organization.read",
  answer: organizationSchema,
  kind: organizationKind,
  load: (services, { id }) => getOrganization(services, id!),
  render: answer,
});

const change = route({
  method: "PATCH",
  path: "/organizations/{id}",
  operationId: "changeOrganization",
  conditional: true,
  summary: "Change an organization",
  description:
    "A narrower allowlist applies at once to every key below. Models that it leaves out stay listed there, marked as out of scope.",
  action: "organization.change",
  body: strict({ name: Type.Optional(Type.String()), ...layer }),
  example: { model_allowlist: ["sandbox/chat"] },
  answer: organizationSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { services, params, body } = request;
    const routing = routingOf(body.routing);
    const id = params["id"]!;
    const record = await changeObject(services, organizationKind, request, {
      action: "organization.change",
      load: (context) => getOrganization(context, id, { forUpdate: true }),
      apply(context, before) {
        checkProviders(services.catalog(), routing, before.routing);
        return changeOrganization(context, id, {
          name: body.name,
          modelAllowlist: body.model_allowlist,
          routing,
        });
      },
    });
    return answer(services, record);
  },
});

export const organizationRoutes = [create, list, read, change];

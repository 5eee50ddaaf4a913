/**
 * Providers over the management API: lists those of every source; adds, changes and removes. Fields have the meaning of the
 * configuration file (providerSchema), and the same code checks them. docs/models.md "Side by side".
 */
import { Type } from "../../base/json-schema.ts";
import {
  addProvider,
  changeProvider,
  createObject,
  dropProvider,
  getProvider,
  permit,
  providerKind,
} from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import type { WireObject } from "../../base/json.ts";
import {
  addBody,
  answer,
  changeBody,
  changeWith,
  checkAddresses,
  credentialsOf,
  keyOf,
  providerAnswerSchema,
  viewContextOf,
  within,
} from "./provider-requests.ts";
import { providerShape, renderProvider } from "./provider-views.ts";
import { route } from "./route.ts";
import { fullListSchema, strict, fullList } from "./schemas.ts";

const list = route({
  method: "GET",
  path: "/providers",
  operationId: "listProviders",
  summary: "The providers from all sources, with their health",
  action: "provider.read",
  query: strict({}),
  answer: {
    name: "Providers",
    schema: fullListSchema(providerShape),
  },
  errors: ["insufficient_permissions"],
  async handle(request) {
    permit(request.actor, "provider.read", {}, "provider");
    const viewContext = await viewContextOf(request);
    const all = [...viewContext.catalog.providers.values()];
    const data = all.map((one) => renderProvider(one, viewContext));
    return fullList(data);
  },
});

const read = route({
  method: "GET",
  path: "/providers/{id}",
  operationId: "getProvider",
  summary: "One provider",
  action: "provider.read",
  answer: providerAnswerSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    permit(request.actor, "provider.read", {}, "provider");
    return answer(request, await getProvider(request.services, request.params["id"]!));
  },
});

const add = route({
  method: "POST",
  path: "/providers",
  operationId: "addProvider",
  summary: "Add a provider; when answered, it is in force on every gateway",
  description:
    "The fields are those of the configuration file. Keys are stored encrypted under the master key and are never shown again. `base_url` must be a public address unless `TOLLGATE_ALLOW_PRIVATE_ADDRESSES` is on. An id that the file or a variable uses is refused with 409.",
  action: "provider.create",
  body: addBody,
  example: { vendor: "mistral", api_key: "the vendor's key" },
  answer: providerAnswerSchema,
  status: 201,
  errors: ["insufficient_permissions", "conflict"],
  async handle(request) {
    const { services, actor, body } = request;
    permit(actor, "provider.create", {}, "provider");
    const { id = body.vendor, api_key, credentials, ...settings } = body;
    if (id === undefined)
      throw new GatewayError("missing_required_parameter", "`id` is required without `vendor`.", {
        param: "id",
      });
    const keys = credentialsOf(api_key, credentials);
    await checkAddresses(services, settings);
    const object = await createObject(services, providerKind, request, {
      action: "provider.create",
      place: () => Promise.resolve({ place: {}, label: "provider" }),
      create: (context) =>
        addProvider(within(services, context), { id, settings, credentials: keys }),
      row: (made) => made,
    });
    return answer(request, object);
  },
});

const change = route({
  method: "PATCH",
  path: "/providers/{id}",
  operationId: "changeProvider",
  conditional: true,
  summary: "Change a provider that was added here",
  description:
    "Absent fields stay, null removes a setting, `models` are replaced as a whole. `api_key` replaces the single key; calls in flight keep the old one.",
  action: "provider.change",
  body: changeBody,
  example: { api_key: "the vendor's new key" },
  answer: providerAnswerSchema,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const { api_key: apiKey, ...settings } = request.body as WireObject;
    permit(request.actor, "provider.change", {}, "provider");
    await checkAddresses(request.services, settings);
    const key = typeof apiKey === "string" ? keyOf(apiKey) : undefined;
    const object = await changeWith(request, {
      action: "provider.change",
      apply: (context, row) => changeProvider(context, row, { settings, apiKey: key }),
    });
    return answer(request, object);
  },
});

const removedShape = Type.Object({
  id: Type.String(),
  object: Type.Literal("provider"),
  removed: Type.Literal(true),
});

const remove = route({
  method: "DELETE",
  path: "/providers/{id}",
  operationId: "removeProvider",
  conditional: true,
  summary: "Remove a provider that was added here",
  description:
    "The provider gets no new calls. Calls in flight finish, and its tasks are polled with their key until they end.",
  action: "provider.delete",
  answer: { name: "RemovedProvider", schema: removedShape },
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const apply = { action: "provider.delete", apply: dropProvider, removes: true } as const;
    const { id } = await changeWith(request, apply);
    return { body: { id, object: "provider", removed: true } };
  },
});

export const providerRoutes = [list, read, add, change, remove];

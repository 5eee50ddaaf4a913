/** Shared by the routes of providers: the fields of their bodies, from the configuration file's schema, and the way to change one. */
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  getProvider,
  permit,
  providerKind,
  type Action,
  type ProviderContext,
  type ProviderObject,
  type WithinChange,
} from "../../admin/index.ts";
import { invalidValue } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { providerIdPattern, providerSchema, type Credential } from "../../catalog/index.ts";
import type { AdminServices } from "../services.ts";
import { oneProviderShape, providerAnswer, type ViewContext } from "./provider-views.ts";
import type { AdminAnswer, AdminRequest } from "./route.ts";
import { nullable, strict } from "./schemas.ts";

export type ProviderRequest = AdminRequest<unknown, unknown>;

const {
  id: _id,
  api_key: keyField,
  credentials: credentialsField,
  ...settingFields
} = providerSchema.properties;

const vendorField = Type.String({
  description: "A vendor of `GET /vendors`: its address, dialect, models and prices are known.",
});
const modelsField = Type.Array(Type.Unsafe<object>({ type: "object" }), {
  maxItems: 1000,
  description:
    "Models as in the configuration file, with their offers of this provider. For a vendor they replace its list. A model that exists already gets the offers in addition to its own.",
});

const idBody = Type.String({
  maxLength: 64,
  pattern: providerIdPattern,
  description:
    "Letters, digits, dots, dashes and underscores: the name with which callers select it. Absent: the vendor's name.",
});

const optionalFields = {
  ...settingFields,
  dialect: Type.Optional(settingFields.dialect),
  base_url: Type.Optional(settingFields.base_url),
};
const settingsBody = {
  ...optionalFields,
  vendor: Type.Optional(vendorField),
  models: Type.Optional(modelsField),
};
const patchFields = Object.fromEntries(
  Object.entries({ ...optionalFields, models: modelsField }).map(([name, field]) => [
    name,
    Type.Optional(nullable(field)),
  ]),
);

export const addBody = strict({
  id: Type.Optional(idBody),
  ...settingsBody,
  api_key: keyField,
  credentials: credentialsField,
});
export const changeBody = strict({ ...patchFields, api_key: keyField });
export const providerAnswerSchema = { name: "Provider", schema: oneProviderShape };

export async function viewContextOf({
  services,
  actor,
}: Pick<ProviderRequest, "services" | "actor">): Promise<ViewContext> {
  const isOrganizationAdmin = actor.organizationAdmin;
  const hour = isOrganizationAdmin ? await services.providerHour() : undefined;
  return { catalog: services.catalog(), health: services.health, hour, isOrganizationAdmin };
}

/** Answers with the provider, with the fields that the actor may see. */
export const answer = async (
  request: Pick<ProviderRequest, "services" | "actor">,
  object: ProviderObject,
): Promise<AdminAnswer> => providerAnswer(object, await viewContextOf(request));

/** Returns the services with the database of a change's transaction. */
export const within = (services: AdminServices, { database }: WithinChange) => ({
  ...services,
  database,
});

/** Checks a provider's addresses; call it before anything is locked, because it looks them up. @throws GatewayError `invalid_value` */
export async function checkAddresses(services: AdminServices, settings: WireObject): Promise<void> {
  const { base_url: url, auth } = settings;
  if (typeof url === "string") await services.checkProviderAddress(url, "base_url");
  const host = isObject(auth) ? auth["authority_host"] : undefined;
  if (typeof host === "string") await services.checkProviderAddress(host, "auth.authority_host");
}

/** Returns the key of a body; `none` means that the server takes no key. */
export const keyOf = (text: string): string => (text === "none" ? "" : text);

/** Returns the credentials of a body. @throws GatewayError `invalid_value` */
export function credentialsOf(
  apiKey: string | undefined,
  list: readonly { id: string; api_key: string; weight?: number }[] | undefined,
): Credential[] {
  if (apiKey !== undefined && list !== undefined)
    throw invalidValue("api_key", "cannot be combined with `credentials`: send one of them");
  if (apiKey !== undefined) return [{ id: "default", apiKey: keyOf(apiKey), weight: 1 }];
  const all = (list ?? []).map(({ id, api_key, weight = 1 }) => ({
    id,
    apiKey: keyOf(api_key),
    weight,
  }));
  if (new Set(all.map(({ id }) => id)).size === all.length) return all;
  throw invalidValue("credentials", "has the same `id` twice: give each its own");
}

interface ProviderChange {
  readonly action: Action;
  readonly apply: (context: ProviderContext, object: ProviderObject) => Promise<ProviderObject>;
  readonly removes?: true;
}

/** Changes the provider that the path names, and returns its new state. */
export async function changeWith(
  request: ProviderRequest,
  change: ProviderChange,
): Promise<ProviderObject> {
  const { services, actor, params } = request;
  const { action, apply } = change;
  permit(actor, action, {}, "provider");
  return changeObject(services, providerKind, request, {
    action,
    load: (context) => getProvider(within(services, context), params["id"]!),
    apply: (context, object) => apply(within(services, context), object),
    ...(change.removes && { removes: true }),
  });
}

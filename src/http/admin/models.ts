/** The configured models, with their health. docs/management.md. Everyone with a role sees them, to choose from. */
import { keyKind, permit, readObject } from "../../admin/index.ts";
import { invalidValue } from "../../base/errors.ts";
import { Type, type Static } from "../../base/json-schema.ts";
import type { Model } from "../../catalog/index.ts";
import { getKey } from "../../tenancy/index.ts";
import { modelShape, renderModel } from "./model-views.ts";
import { route, type AdminRequest } from "./route.ts";
import { filterText, fullListSchema, strict, fullList, words } from "./schemas.ts";
import { reachOfAll, reachOfKey, type Reach } from "./scope.ts";

const idsMax = 20;
const split = (text: string): readonly string[] => text.split(",").map((one) => one.trim());

const query = strict({
  kind: Type.Optional(words("text", "image", "video", "embedding")),
  provider: filterText,
  key_id: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "A key: each model says whether this key may call it (`in_scope`, `out_of_scope_by`).",
    }),
  ),
  q: Type.Optional(
    Type.String({ description: "Text in the id, the name or an alias; case does not matter." }),
  ),
  ids: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 6000,
      description: `Up to ${idsMax} ids, separated by commas: only these, with \`supported_parameters\`.`,
    }),
  ),
});
type Query = Static<typeof query>;

/** Returns a filter for the models that the query asks for. @throws GatewayError `invalid_value` for too many ids */
function wantedBy({ kind, provider, q, ids }: Query): (one: Model) => boolean {
  const named = ids === undefined ? undefined : new Set(split(ids));
  if (named !== undefined && named.size > idsMax)
    throw invalidValue("ids", `has ${named.size} ids: name at most ${idsMax} in one request`);
  const text = q?.toLowerCase();
  return (one) =>
    (kind === undefined || one.kind === kind) &&
    (named === undefined || named.has(one.id)) &&
    (provider === undefined || one.offers.some((each) => each.provider === provider)) &&
    (text === undefined ||
      [one.id, one.name ?? "", ...(one.aliases ?? [])].some((name) =>
        name.toLowerCase().includes(text),
      ));
}

/**
 * Returns the models that the key of the query can call; without a key, those that any caller can. @throws GatewayError `not_found` for
 * a key that the actor may not see
 */
async function reachIn({ services, actor }: Asking, keyId: string | undefined): Promise<Reach> {
  const catalog = services.catalog();
  if (keyId === undefined) return reachOfAll(catalog);
  const key = await readObject(keyKind, { actor }, "key.read", () =>
    getKey(services, { id: keyId }),
  );
  return reachOfKey(services, catalog, key);
}

type Asking = Pick<AdminRequest<unknown, unknown>, "services" | "actor">;

const models = route({
  method: "GET",
  path: "/models",
  operationId: "listConfiguredModels",
  summary: "The models of the configuration, with their providers and health",
  action: "model.read",
  query,
  answer: { name: "ConfiguredModels", schema: fullListSchema(modelShape) },
  errors: ["not_found", "insufficient_permissions"],
  async handle({ services, actor, query: asked }) {
    permit(actor, "model.read", {}, "model");
    const viewContext = {
      catalog: services.catalog(),
      health: services.health,
      isOrganizationAdmin: actor.organizationAdmin,
      reach: await reachIn({ services, actor }, asked.key_id),
      withParameters: asked.ids !== undefined,
    };
    const wanted = [...viewContext.catalog.models.values()].filter(wantedBy(asked));
    return fullList(wanted.map((one) => renderModel(one, viewContext)));
  },
});

export const modelRoutes = [models];

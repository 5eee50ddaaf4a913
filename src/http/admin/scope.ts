/**
 * What a layer's settings mean against the layers above it and the catalogue: which chosen models are out of reach now
 * (marked, never removed: ALLOW-04), and whether the providers that routing names exist. Requirements: ALLOW, ROUTE.
 */
import { snakeName } from "../../base/casing.ts";
import { GatewayError } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/index.ts";
import { meantModel, modelsFor, openScope, type CallableModel } from "../../routing/index.ts";
import {
  followRouting,
  getOrganization,
  getWorkspace,
  routingScopeOf,
  type KeyRecord,
  type RoutingPatch,
  type RoutingSettings,
  type RowContext,
  type ScopeLayer,
} from "../../tenancy/index.ts";

/** So many unknown names are shown of a list; which models are meant is looked for with the first of them. */
const unknownMax = 20;
const soughtMax = 3;

/** The first entries of an allowlist that are no model's id now, in its order. They are allowed: a model may come. */
function unknownModels(catalog: Catalog, allowlist: readonly string[]) {
  const unknown = allowlist.filter((name) => !catalog.models.has(name));
  return unknown.slice(0, unknownMax).map((name, at) => {
    const meant = at < soughtMax ? meantModel(name, catalog) : undefined;
    return { name, did_you_mean: meant?.id ?? null, is_alias: meant?.isAlias ?? false };
  });
}

/** What the settings of a layer mean now, for its answer: `out_of_scope_models` and `unknown_models`. */
export const scopeOfLayer = (
  catalog: Catalog,
  allowlist: readonly string[],
  above: readonly ScopeLayer[],
) => ({
  out_of_scope_models: outOfScopeModels(catalog, allowlist, above),
  unknown_models: unknownModels(catalog, allowlist),
});

/** The entries of an allowlist that the layers above, or the catalogue, leave uncallable. In the list's order. */
function outOfScopeModels(
  catalog: Catalog,
  allowlist: readonly string[],
  above: readonly ScopeLayer[],
): string[] {
  if (allowlist.length === 0) return [];
  const scope = modelsFor(catalog, routingScopeOf(above));
  const reachable = new Set(scope.map(({ model }) => model.id));
  return allowlist.filter((id) => !reachable.has(id));
}

/** The layers above a workspace's keys: its organization, where it has one, and itself. */
export async function layersOfWorkspace(
  context: RowContext,
  workspaceId: string,
): Promise<readonly ScopeLayer[]> {
  const workspace = await getWorkspace(context, workspaceId);
  if (workspace.organizationId === null) return [workspace];
  return [await getOrganization(context, workspace.organizationId), workspace];
}

/**
 * Refuses routing that newly names a provider the configuration does not have: pinned to it, a key could call nothing.
 * What was stored before the configuration changed stays, and may be sent back with the rest of `before`.
 * @throws GatewayError `invalid_value`
 */
export function checkProviders(
  catalog: Catalog,
  routing: RoutingPatch | null | undefined,
  before: RoutingSettings = followRouting,
): void {
  for (const list of ["pinnedProviders", "preferredProviders"] as const) {
    const isKnown = (id: string) => catalog.providers.has(id) || before[list].includes(id);
    const unknown = routing?.[list]?.find((id) => !isKnown(id));
    if (unknown === undefined) continue;
    const param = `routing.${snakeName(list)}`;
    const message = `\`${param}\`: there is no provider "${unknown}".`;
    throw new GatewayError("invalid_value", message, { param });
  }
}

export const layerNames = ["organization", "workspace", "key"] as const;
type LayerName = (typeof layerNames)[number];

/** What can be called, by model id, and which layer is the first to leave a model out. */
export interface Reach {
  readonly callable: ReadonlyMap<string, CallableModel>;
  /** null where none does: then the configuration itself lets nobody call it. */
  readonly leftOutBy: (modelId: string) => LayerName | null;
}

const byId = (callable: readonly CallableModel[]): ReadonlyMap<string, CallableModel> =>
  new Map(callable.map((one) => [one.model.id, one]));

/** What anybody can call whom nothing constrains. */
export const reachOfAll = (catalog: Catalog): Reach => ({
  callable: byId(modelsFor(catalog, openScope)),
  leftOutBy: () => null,
});

/** What a key can call: the plan's own rule, once for each of the layers above it and for itself. */
export async function reachOfKey(
  context: RowContext,
  catalog: Catalog,
  key: KeyRecord,
): Promise<Reach> {
  const layers = [...(await layersOfWorkspace(context, key.workspaceId)), key];
  const names = layerNames.slice(-layers.length);
  const all = byId(modelsFor(catalog, openScope));
  const stages = layers.map((_, index) =>
    byId(modelsFor(catalog, routingScopeOf(layers.slice(0, index + 1)))),
  );
  return {
    callable: stages.at(-1)!,
    leftOutBy: (id) =>
      all.has(id) ? (names[stages.findIndex((stage) => !stage.has(id))] ?? null) : null,
  };
}

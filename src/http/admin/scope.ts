/**
 * Compares a layer's settings with the layers above it and the catalogue. Finds chosen models that are out of reach now (marked, never
 * removed: ALLOW-04), and routing to providers that do not exist. Requirements: ALLOW, ROUTE.
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

/** Most unknown names that are shown of a list, and for how many of them a similar model is searched. */
const unknownMax = 20;
const suggestionsMax = 3;

/**
 * Returns the first entries of an allowlist that are no model's id now, in order. They are allowed, because the model may be added
 * later.
 */
function unknownModels(catalog: Catalog, allowlist: readonly string[]) {
  const unknown = allowlist.filter((name) => !catalog.models.has(name));
  return unknown.slice(0, unknownMax).map((name, at) => {
    const meant = at < suggestionsMax ? meantModel(name, catalog) : undefined;
    return { name, did_you_mean: meant?.id ?? null, is_alias: meant?.isAlias ?? false };
  });
}

/** Returns the fields of a layer's answer about its scope now: `out_of_scope_models` and `unknown_models`. */
export const scopeOfLayer = (
  catalog: Catalog,
  allowlist: readonly string[],
  above: readonly ScopeLayer[],
) => ({
  out_of_scope_models: outOfScopeModels(catalog, allowlist, above),
  unknown_models: unknownModels(catalog, allowlist),
});

/** Returns the entries of an allowlist that the layers above, or the catalogue, make uncallable. In the list's order. */
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

/** Returns the layers above a workspace's keys: its organization, if it has one, and the workspace. */
export async function layersOfWorkspace(
  context: RowContext,
  workspaceId: string,
): Promise<readonly ScopeLayer[]> {
  const workspace = await getWorkspace(context, workspaceId);
  if (workspace.organizationId === null) return [workspace];
  return [await getOrganization(context, workspace.organizationId), workspace];
}

/**
 * Refuses routing that newly names an unknown provider: a key pinned to it could call nothing. Names that were stored before the
 * configuration changed stay, and may be sent back: `before` has them.
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

/** The models that can be called, by id, and the outermost layer that excludes a model. */
export interface Reach {
  readonly callable: ReadonlyMap<string, CallableModel>;
  /** null if no layer does: a model that is still not callable is excluded by the configuration itself. */
  readonly leftOutBy: (modelId: string) => LayerName | null;
}

const byId = (callable: readonly CallableModel[]): ReadonlyMap<string, CallableModel> =>
  new Map(callable.map((one) => [one.model.id, one]));

/** The models that a caller without restrictions can call. */
export const reachOfAll = (catalog: Catalog): Reach => ({
  callable: byId(modelsFor(catalog, openScope)),
  leftOutBy: () => null,
});

/** Returns the models that a key can call, by the planner's own rule, applied once per layer. */
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

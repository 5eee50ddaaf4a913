/**
 * What a layer's settings mean against the layers above it and the catalogue: which chosen models are out of reach now
 * (marked, never removed: ALLOW-04), and whether the providers that routing names exist. Requirements: ALLOW, ROUTE.
 */
import { GatewayError } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/index.ts";
import { modelsFor } from "../../routing/index.ts";
import {
  getOrganization,
  getWorkspace,
  routingScopeOf,
  type RoutingPatch,
  type RowContext,
  type ScopeLayer,
} from "../../tenancy/index.ts";

/** The entries of an allowlist that the layers above, or the catalogue, leave uncallable. In the list's order. */
export function outOfScopeModels(
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
 * What was stored before the configuration changed stays. @throws GatewayError `invalid_value`
 */
export function checkProviders(catalog: Catalog, routing: RoutingPatch | null | undefined): void {
  check(catalog, routing?.pinnedProviders, "routing.pinned_providers");
  check(catalog, routing?.preferredProviders, "routing.preferred_providers");
}

function check(catalog: Catalog, named: readonly string[] | undefined, param: string): void {
  const unknown = named?.find((id) => !catalog.providers.has(id));
  if (unknown === undefined) return;
  throw new GatewayError("invalid_value", `\`${param}\`: there is no provider "${unknown}".`, {
    param,
  });
}

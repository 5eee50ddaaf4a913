/**
 * The models, tiers and providers that a caller may use, and its routing preferences, from its layers: organization, workspace, key.
 * ROUTE-05, ROUTE-12 to ROUTE-17. This is plain data; src/routing applies it.
 */
import { memoizeByObject } from "../base/memoize.ts";
import type { Caller, ScopeLayer } from "./caller.ts";
import type { SortStrategy } from "./routing-settings.ts";

/**
 * Each constraint has one list per layer that sets any, and a candidate must satisfy all lists. So a layer can only narrow the layers
 * above it; lists with nothing in common allow nothing.
 */
export interface RoutingScope {
  readonly modelAllowlists: readonly (readonly string[])[];
  readonly supplyTiers: readonly (readonly string[])[];
  readonly pinnedProviders: readonly (readonly string[])[];
  /** From the nearest layer that prefers any. */
  readonly preferredProviders: readonly string[];
  /** From the nearest layer that names one; null: the default. */
  readonly sort: SortStrategy | null;
  /** The key has its own routing and a request may not override the strategy. */
  readonly locked: boolean;
}

const filled = (lists: readonly (readonly string[])[]) => lists.filter((list) => list.length > 0);

/** The scope of a caller. A layer in mode `follow` adds no routing of its own; its allowlist applies in either mode. */
export const routingScope = memoizeByObject(makeScope);

function makeScope(caller: Caller): RoutingScope {
  const above = [caller.organization, caller.workspace].filter((layer) => layer !== null);
  return keyScopeOf(above, caller.key, caller.allowRequestOverride);
}

/** The scope of a key below these layers. */
export const keyScopeOf = (
  above: readonly ScopeLayer[],
  key: ScopeLayer,
  allowRequestOverride: boolean,
): RoutingScope => ({
  ...routingScopeOf([...above, key]),
  locked: key.routing.mode === "custom" && !allowRequestOverride,
});

/** The combined scope of layers, outermost first; for the levels below them. */
export function routingScopeOf(layers: readonly ScopeLayer[]): RoutingScope {
  const routings = layers
    .map((layer) => layer.routing)
    .filter((routing) => routing.mode === "custom");
  return {
    modelAllowlists: filled(layers.map((layer) => layer.modelAllowlist)),
    supplyTiers: filled(routings.map((routing) => routing.supplyTiers)),
    pinnedProviders: filled(routings.map((routing) => routing.pinnedProviders)),
    preferredProviders: filled(routings.map((routing) => routing.preferredProviders)).at(-1) ?? [],
    sort: routings.findLast((routing) => routing.sort !== null)?.sort ?? null,
    locked: false,
  };
}

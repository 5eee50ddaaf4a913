/**
 * Routing settings of an organization, a workspace or a key, as values and as stored JSON.
 * Requirements: ROUTE. How the layers combine: scope.ts.
 */
import { supplyTiers, type SupplyTier } from "../base/management.ts";
import { checkNames, invalidValue } from "./checks.ts";

const sortStrategies = ["price", "latency", "throughput", "balanced"] as const;
export type SortStrategy = (typeof sortStrategies)[number];

/** `follow`: the layer above decides; what was custom before is kept, and not applied. An empty list: none of that kind. */
export interface RoutingSettings {
  readonly mode: "follow" | "custom";
  readonly sort: SortStrategy | null;
  readonly supplyTiers: readonly SupplyTier[];
  readonly pinnedProviders: readonly string[];
  readonly preferredProviders: readonly string[];
}

/** Absent: unchanged. null in place of the whole: back to following. */
export type RoutingPatch = {
  readonly [Name in keyof RoutingSettings]?: RoutingSettings[Name] | undefined;
};

/** The stored and the wire shape. */
export interface RoutingJson {
  readonly mode: "follow" | "custom";
  readonly sort: SortStrategy | null;
  readonly supply_tiers: readonly SupplyTier[];
  readonly pinned_providers: readonly string[];
  readonly preferred_providers: readonly string[];
}

export const followRouting: RoutingSettings = {
  mode: "follow",
  sort: null,
  supplyTiers: [],
  pinnedProviders: [],
  preferredProviders: [],
};

/**
 * The settings after a patch. One that sets something and names no mode makes the layer custom; with `mode: follow` it is
 * refused, because it would be without effect.
 * @throws GatewayError `invalid_value` naming the field.
 */
export function mergeRouting(
  current: RoutingSettings,
  patch: RoutingPatch | null | undefined,
): RoutingSettings {
  if (patch === undefined) return current;
  if (patch === null) return followRouting;
  const mode = patch.mode ?? (settingsIn(patch).length > 0 ? "custom" : current.mode);
  if (mode !== "follow" && mode !== "custom") {
    throw invalidValue("routing.mode", "must be follow or custom");
  }
  const sort = patch.sort === undefined ? current.sort : patch.sort;
  if (sort !== null && !sortStrategies.includes(sort)) {
    throw invalidValue("routing.sort", `must be one of ${sortStrategies.join(", ")}, or null`);
  }
  const tiers = checkNames(patch.supplyTiers ?? current.supplyTiers, "routing.supply_tiers");
  const known: readonly string[] = supplyTiers;
  if (!tiers.every((tier) => known.includes(tier))) {
    throw invalidValue("routing.supply_tiers", `may hold ${supplyTiers.join(", ")}`);
  }
  const merged: RoutingSettings = {
    mode,
    sort,
    supplyTiers: tiers as SupplyTier[],
    pinnedProviders: checkNames(
      patch.pinnedProviders ?? current.pinnedProviders,
      "routing.pinned_providers",
    ),
    preferredProviders: checkNames(
      patch.preferredProviders ?? current.preferredProviders,
      "routing.preferred_providers",
    ),
  };
  if (mode === "follow") refuseIdle(settingsIn(patch), merged, current);
  return merged;
}

const settingNames = {
  sort: "sort",
  supplyTiers: "supply_tiers",
  pinnedProviders: "pinned_providers",
  preferredProviders: "preferred_providers",
} as const;
type Setting = keyof typeof settingNames;

/** What a patch sets; null and an empty list clear. */
const settingsIn = (patch: RoutingPatch): readonly Setting[] =>
  (Object.keys(settingNames) as Setting[]).filter((name) => (patch[name] ?? "").length > 0);

/** Settings that come with `mode: follow` may repeat what is kept, and change nothing. */
function refuseIdle(
  names: readonly Setting[],
  merged: RoutingSettings,
  current: RoutingSettings,
): void {
  const idle = names.find((name) => JSON.stringify(merged[name]) !== JSON.stringify(current[name]));
  if (idle === undefined) return;
  throw invalidValue(
    `routing.${settingNames[idle]}`,
    "has no effect with mode follow; send mode custom, or no mode",
  );
}

/** As stored and as rendered. */
export function renderRouting(routing: RoutingSettings): RoutingJson {
  return {
    mode: routing.mode,
    sort: routing.sort,
    supply_tiers: routing.supplyTiers,
    pinned_providers: routing.pinnedProviders,
    preferred_providers: routing.preferredProviders,
  };
}

/** Reads stored settings; what a row from an older version lacks is "none". */
export function routingOfRow(json: Partial<RoutingJson> | null): RoutingSettings {
  return {
    mode: json?.mode ?? "follow",
    sort: json?.sort ?? null,
    supplyTiers: json?.supply_tiers ?? [],
    pinnedProviders: json?.pinned_providers ?? [],
    preferredProviders: json?.preferred_providers ?? [],
  };
}

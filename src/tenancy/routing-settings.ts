/**
 * Routing settings of an organization, a workspace or a key, as values and as stored JSON.
 * Requirements: ROUTE. How the layers combine: scope.ts.
 */
import { invalidValue } from "../base/errors.ts";
import { camelCased, snakeCased, snakeName, type SnakeCased } from "../base/casing.ts";
import { supplyTiers, type SupplyTier } from "../base/management.ts";
import { checkNames } from "./checks.ts";

const sortStrategies = ["price", "latency", "throughput", "balanced"] as const;
export type SortStrategy = (typeof sortStrategies)[number];

/** `follow`: the layer above decides; earlier custom settings are kept but not applied. An empty list: no setting of that kind. */
export interface RoutingSettings {
  readonly mode: "follow" | "custom";
  readonly sort: SortStrategy | null;
  readonly supplyTiers: readonly SupplyTier[];
  readonly pinnedProviders: readonly string[];
  readonly preferredProviders: readonly string[];
}

/** Absent: unchanged. null for one field: no setting of that kind. A null patch: back to `follow`. */
export type RoutingPatch = {
  readonly [Name in keyof RoutingSettings]?:
    | RoutingSettings[Name]
    | (Name extends "mode" ? never : null)
    | undefined;
};

/** The stored and the wire shape. */
export type RoutingJson = SnakeCased<RoutingSettings>;

export const followRouting: RoutingSettings = {
  mode: "follow",
  sort: null,
  supplyTiers: [],
  pinnedProviders: [],
  preferredProviders: [],
};

/**
 * The settings after a patch. A patch that sets something and names no mode switches to `custom`. With `mode: follow` a changed
 * setting is refused, because it would have no effect.
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
  const named = (list: List): string[] => {
    const names = patch[list] === undefined ? current[list] : (patch[list] ?? []);
    return checkNames(names, `routing.${snakeName(list)}`);
  };
  const tiers = named("supplyTiers");
  const known: readonly string[] = supplyTiers;
  if (!tiers.every((tier) => known.includes(tier))) {
    throw invalidValue("routing.supply_tiers", `must contain only: ${supplyTiers.join(", ")}`);
  }
  const merged: RoutingSettings = {
    mode,
    sort,
    supplyTiers: tiers as SupplyTier[],
    pinnedProviders: named("pinnedProviders"),
    preferredProviders: named("preferredProviders"),
  };
  if (mode === "follow") refuseIdle(settingsIn(patch), merged, current);
  return merged;
}

const settings = ["sort", "supplyTiers", "pinnedProviders", "preferredProviders"] as const;
type Setting = (typeof settings)[number];
type List = Exclude<Setting, "sort">;

/** The fields that a patch sets; null and an empty list clear a field. */
const settingsIn = (patch: RoutingPatch): readonly Setting[] =>
  settings.filter((name) => (patch[name] ?? "").length > 0);

/** With `mode: follow`, a patch may repeat the stored settings but not change them. @throws GatewayError `invalid_value` */
function refuseIdle(
  names: readonly Setting[],
  merged: RoutingSettings,
  current: RoutingSettings,
): void {
  const idle = names.find((name) => JSON.stringify(merged[name]) !== JSON.stringify(current[name]));
  if (idle === undefined) return;
  throw invalidValue(
    `routing.${snakeName(idle)}`,
    "cannot be set with `mode: follow`; send `mode: custom`, or leave `mode` out",
  );
}

/** The stored and the wire shape. */
export const renderRouting = (routing: RoutingSettings): RoutingJson => snakeCased(routing);

/** Reads stored settings. Fields missing in a row from an older version mean "none". */
export const routingOfRow = (json: Partial<RoutingJson> | null): RoutingSettings => ({
  ...followRouting,
  ...camelCased(json ?? {}),
});

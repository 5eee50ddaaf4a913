/** Converts routing between form and API. */

export const sorts = ["balanced", "price", "latency", "throughput"] as const;
export const tiers = ["official", "partner", "community"] as const;

export interface Routing {
  readonly mode: "follow" | "custom";
  readonly sort: (typeof sorts)[number] | null;
  readonly supply_tiers: readonly string[];
  readonly pinned_providers: readonly string[];
  readonly preferred_providers: readonly string[];
}

type Tier = (typeof tiers)[number];

/** The API form. With `follow` only the mode is sent, and the API keeps the earlier settings. */
export function routingOf({ mode, sort, ...lists }: Routing) {
  if (mode === "follow") return { mode };
  return {
    mode,
    sort,
    supply_tiers: lists.supply_tiers.filter((tier): tier is Tier =>
      (tiers as readonly string[]).includes(tier),
    ),
    pinned_providers: [...lists.pinned_providers],
    preferred_providers: [...lists.preferred_providers],
  };
}

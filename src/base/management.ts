/**
 * Constants that several folders share and the wire shows. So a command need not load the gateway for one, and a reader of a key's settings
 * need not load the catalogue.
 */

/** Thirty days. With a longer one, the old value of a key is in effect a second key. */
export const graceSecondsMax = 30 * 24 * 60 * 60;

/** For a temporary value of a key: for one page in a browser. */
export const temporarySecondsMax = 15 * 60;

export const granularities = ["hour", "day", "month", "total"] as const;
export type Granularity = (typeof granularities)[number];

/** The fields by which usage can be grouped. */
export const usageGroups = [
  "model",
  "key",
  "provider",
  "member",
  "workspace",
  "protocol",
  "status",
  "error_code",
] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** Supply tiers, from the vendor itself to anyone. */
export const supplyTiers = ["official", "partner", "community"] as const;
export type SupplyTier = (typeof supplyTiers)[number];

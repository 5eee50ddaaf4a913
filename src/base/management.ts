/**
 * Words and bounds that several folders share and the wire shows: a command that needs one need not load the gateway,
 * nor who reads a key's settings the catalogue.
 */

/** Thirty days. Longer, and the old value of a key is simply a second key. */
export const graceSecondsMax = 30 * 24 * 60 * 60;

/** A temporary value of a key: for one page in a browser. */
export const temporarySecondsMax = 15 * 60;

export const granularities = ["hour", "day", "month", "total"] as const;
export type Granularity = (typeof granularities)[number];

/** What rows of usage can be made of. */
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

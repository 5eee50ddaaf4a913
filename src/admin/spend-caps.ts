/** Detects changes that loosen spend caps, which a key's owner may not do alone. CAP-13, CAP-14. */
import type { SpendCaps } from "../tenancy/index.ts";

const windows = ["totalNano", "monthlyNano", "weeklyNano", "dailyNano"] as const;

/** True if any cap is raised or removed, or a hard one becomes soft. */
export function loosensCaps(before: SpendCaps, after: SpendCaps): boolean {
  const limited = windows.some((window) => before[window] !== null);
  if (before.hard && !after.hard && limited) return true;
  return windows.some((window) => {
    const [old, now] = [before[window], after[window]];
    return old !== null && (now === null || now > old);
  });
}

/** True if two sets of caps are equal. */
export const sameCaps = (one: SpendCaps, other: SpendCaps): boolean =>
  one.hard === other.hard && windows.every((window) => one[window] === other[window]);

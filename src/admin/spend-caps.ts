/** Whether a change of spend caps loosens them: what a key's owner may not do alone. CAP-13, CAP-14. */
import type { SpendCaps } from "../tenancy/index.ts";

const windows = ["totalNano", "monthlyNano", "weeklyNano", "dailyNano"] as const;

/** True where any cap is raised or cleared, or a hard one becomes soft. */
export function loosensCaps(before: SpendCaps, after: SpendCaps): boolean {
  const limited = windows.some((window) => before[window] !== null);
  if (before.hard && !after.hard && limited) return true;
  return windows.some((window) => {
    const [old, now] = [before[window], after[window]];
    return old !== null && (now === null || now > old);
  });
}

/** Whether two sets of caps say the same. */
export const sameCaps = (one: SpendCaps, other: SpendCaps): boolean =>
  one.hard === other.hard && windows.every((window) => one[window] === other[window]);

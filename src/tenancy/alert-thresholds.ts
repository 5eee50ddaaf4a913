/** The percentages of a spend cap at which a workspace is alerted. docs/callbacks.md "Spend caps". */
import { invalidValue } from "../base/errors.ts";

/** The default thresholds, in percent. */
export const defaultThresholds: readonly number[] = [50, 80, 100];
export const thresholdsMax = 5;

/**
 * Returns the thresholds after a change, ascending and deduplicated. undefined keeps them, null restores the default, and an empty
 * list means no alerts. @throws GatewayError `invalid_value`
 */
export function mergeThresholds(
  current: readonly number[],
  change: readonly number[] | null | undefined,
): readonly number[] {
  if (change === undefined) return current;
  if (change === null) return defaultThresholds;
  const fits = change.every((one) => Number.isInteger(one) && one >= 1 && one <= 100);
  if (!fits || change.length > thresholdsMax) {
    throw invalidValue(
      "alert_thresholds",
      `must be at most ${thresholdsMax} whole numbers from 1 to 100`,
    );
  }
  return [...new Set(change)].toSorted((one, other) => one - other);
}

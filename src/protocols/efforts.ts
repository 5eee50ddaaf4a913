/** Reasoning efforts: their order, the nearest one that a model supports, and their token budgets. docs/decisions.md "Reasoning". */

const scale: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Token budget of each effort, for models that only have budgets; "limit" is the model's maximum. */
export const budgetByEffort: Readonly<Record<string, number | "limit">> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: "limit",
  max: "limit",
};

/**
 * Returns the one of `values` (sorted from least) that is nearest to an effort; the lesser one if two are equally near. Undefined for a
 * word outside the scale, unless `values` has it.
 */
export function nearestEffort(effort: string, values: readonly string[]): string | undefined {
  if (values.includes(effort)) return effort;
  const wanted = scale.indexOf(effort);
  if (wanted === -1) return undefined;
  let nearest: string | undefined;
  let least = Infinity;
  for (const value of values) {
    const distance = Math.abs(scale.indexOf(value) - wanted);
    if (!scale.includes(value) || distance >= least) continue;
    nearest = value;
    least = distance;
  }
  return nearest;
}

/** Efforts: their order, the nearest of those that a model knows, and what they are as a budget. docs/decisions.md "Reasoning". */

const scale: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Effort towards a token budget, where a model has budgets only; "limit" is the most it can. */
export const budgetByEffort: Readonly<Record<string, number | "limit">> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: "limit",
  max: "limit",
};

/**
 * Of `values`, the least first, the one nearest to an effort; of two equally near the lesser. Undefined for a word that has no
 * place among the efforts, unless the model knows it itself.
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

/** Compares models in rows, differing rows first. Pure. */
import { domainText } from "./domains.ts";
import { factsOf } from "./facts.ts";
import type { Model } from "./filters.ts";
import { headlineOf, isServing } from "./prices.ts";

export interface ComparedRow {
  readonly name: string;
  /** One for each model; "-" if the model lacks it. */
  readonly values: readonly string[];
  readonly differs: boolean;
}

const nothing = "-";

function pricesOf(model: Model): readonly (readonly [string, string])[] {
  const { input, output, other } = headlineOf(model);
  const ids = [...new Set(model.offers.filter(isServing).map(({ provider }) => provider))];
  return [
    ["Input price (USD per million)", input ?? nothing],
    ["Output price (USD per million)", output ?? nothing],
    ["Other price (USD)", other === null ? nothing : `from ${other.amount} ${other.per}`],
    ["Serving now", ids.length === 0 ? "no provider" : ids.join(", ")],
  ];
}

const valuesOf = (model: Model): ReadonlyMap<string, string> =>
  new Map([
    ...factsOf(model),
    ...pricesOf(model),
    ...Object.entries(model.supported_parameters ?? {}).map(
      ([name, domain]) => [name, domainText(domain)] as const,
    ),
  ]);

/** Returns a row for every fact, price and parameter of any of the models. */
export function comparisonOf(models: readonly Model[]): readonly ComparedRow[] {
  const columns = models.map(valuesOf);
  const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  const rows = names.map((name) => {
    const values = columns.map((column) => column.get(name) ?? nothing);
    return { name, values, differs: new Set(values).size > 1 };
  });
  return [...rows.filter(({ differs }) => differs), ...rows.filter(({ differs }) => !differs)];
}

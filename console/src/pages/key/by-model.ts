/** A key's usage by model over a whole period: sums the rows of its time steps. Pure. */
import { parseUsd, usdText } from "../../base/money.ts";

/** The fields read from a row of `GET /usage`. */
interface Row {
  readonly model?: string | null;
  /** The row sums all models without rows of their own. */
  readonly other?: boolean;
  readonly requests: number;
  readonly errors: number;
  readonly cost: string;
}

export interface ModelUse {
  readonly name: string;
  /** Undefined if the log cannot be filtered by it. */
  readonly model: string | undefined;
  readonly requests: number;
  readonly errors: number;
  /** Decimal text of USD. */
  readonly cost: string;
}

interface Sum extends Omit<ModelUse, "cost"> {
  readonly costNano: bigint;
}

const nothing = { model: undefined, requests: 0, errors: 0, costNano: 0n };
const others: Sum = { ...nothing, name: "all others" };
const unlogged: Sum = { ...nothing, name: "not in the log" };

const added = (sum: Sum, { requests, errors, cost }: Row): Sum => ({
  ...sum,
  requests: sum.requests + requests,
  errors: sum.errors + errors,
  costNano: sum.costNano + parseUsd(cost),
});

const dearestFirst = (one: Sum, other: Sum): number =>
  Number(other.costNano > one.costNano) - Number(other.costNano < one.costNano);

/** Returns one row per model, the most expensive first, and all others last. */
export function byModel(rows: readonly Row[]): readonly ModelUse[] {
  let [rest, unknown] = [others, unlogged];
  const models = new Map<string, Sum>();
  for (const row of rows) {
    const { model } = row;
    if (row.other === true) rest = added(rest, row);
    else if (model == null) unknown = added(unknown, row);
    else models.set(model, added(models.get(model) ?? { ...nothing, name: model, model }, row));
  }
  const named = [...models.values(), ...(unknown === unlogged ? [] : [unknown])].sort(dearestFirst);
  const all = rest === others ? named : [...named, rest];
  return all.map(({ costNano, ...sum }) => ({ ...sum, cost: usdText(costNano) }));
}

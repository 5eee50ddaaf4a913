/** What a key used by model in a whole period: the sum of the rows of its steps. Pure. */
import { parseUsd, usdText } from "../../base/money.ts";

/** What is read of a row of `GET /usage`. */
interface Row {
  readonly model?: string | null;
  /** It is of all models beyond those that have rows of their own. */
  readonly other?: boolean;
  readonly requests: number;
  readonly errors: number;
  readonly cost: string;
}

export interface ModelUse {
  readonly name: string;
  /** Undefined where its calls cannot be found in the log by a model. */
  readonly model: string | undefined;
  readonly requests: number;
  readonly errors: number;
  /** USD as the API has it. */
  readonly cost: string;
}

function nameOf({ model, other }: Row): string {
  if (other === true) return "all others";
  return model ?? "not in the log";
}

const added = (one: ModelUse, { requests, errors, cost }: Row): ModelUse => ({
  ...one,
  requests: one.requests + requests,
  errors: one.errors + errors,
  cost: usdText(parseUsd(one.cost) + parseUsd(cost)),
});

/** One row for each model, the dearest first, and all others last. */
export function byModel(rows: readonly Row[]): readonly ModelUse[] {
  const found = new Map<string, ModelUse>();
  for (const row of rows) {
    const name = nameOf(row);
    const key = `${row.other === true} ${row.model ?? ""}`;
    const model = row.other === true ? undefined : (row.model ?? undefined);
    const before = found.get(key) ?? { name, model, requests: 0, errors: 0, cost: "0" };
    found.set(key, added(before, row));
  }
  const rest = found.get("true ");
  const named = [...found.values()].filter((one) => one !== rest);
  named.sort((one, other) => (parseUsd(one.cost) < parseUsd(other.cost) ? 1 : -1));
  return rest === undefined ? named : [...named, rest];
}

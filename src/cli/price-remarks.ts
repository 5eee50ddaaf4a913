/** Remarks on `prices` of the configuration file: in the log of a start, by `config check` and by `doctor`. docs/models.md. */
import {
  withoutFileVendors,
  withOwnPrices,
  type Config,
  type OwnPriceFindings,
} from "../catalog/index.ts";
import { readEnvironment } from "./environment.ts";
import { environmentProviders } from "./vendor-models.ts";

export interface Remark {
  readonly message: string;
  readonly models: readonly string[];
}

const messages: Readonly<Record<keyof OwnPriceFindings, string>> = {
  unused:
    "prices of the configuration file fit no model of a vendor whose variable is set; `tollgate models` lists those",
  flat:
    "prices of the configuration file replace list prices that are higher for long calls, and have no tier: their vendors charge more; " +
    "add price_above to each",
  uncached:
    "prices of the configuration file replace list prices that are lower for cached tokens, and have no cache_read: " +
    "callers pay for these as for input; add cache_read to each, the one of input where that is meant",
};

/** Returns the remarks that concern at least one model. */
export const priceRemarks = (findings: OwnPriceFindings): Remark[] =>
  (["unused", "flat", "uncached"] as const).flatMap((kind) =>
    findings[kind].length === 0 ? [] : [{ message: messages[kind], models: findings[kind] }],
  );

/** Returns the remarks on a file, given the vendors of this environment. @throws UsageError for an invalid address in the environment */
export function priceRemarksOf({ prices, variables: used }: Config): Remark[] {
  if (prices === undefined) return [];
  const { variables } = readEnvironment(process.env);
  const brought = environmentProviders(variables);
  const left = used ? withoutFileVendors(brought, variables, used) : brought;
  return priceRemarks(withOwnPrices(left, prices));
}

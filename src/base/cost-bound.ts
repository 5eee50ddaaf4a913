/** The most that one call may be expected to cost, and be charged. docs/ledger.md. */
import { invalidValue } from "./errors.ts";
import type { Log } from "./log.ts";
import { amountNanoMax, formatUsd, type NanoUsd } from "./money.ts";

/** A field that makes a call dear, and what the call could cost with the least of it. */
export interface CostField {
  readonly field: string;
  readonly leastNano: () => NanoUsd;
}

/**
 * Refuses a call that could cost more than any call may. It names the first of these fields with less of which it could run; where none
 * helps, the model's price is to blame. @throws GatewayError `invalid_value`
 */
export function checkBound(boundNano: NanoUsd, fields: () => readonly CostField[]): void {
  if (boundNano <= amountNanoMax) return;
  const { field } = fields().find(({ leastNano }) => leastNano() <= amountNanoMax) ?? {
    field: "model",
  };
  throw invalidValue(
    field,
    `makes a call that may cost up to $${formatUsd(boundNano)}; one call may cost $${formatUsd(amountNanoMax)} at most`,
  );
}

/**
 * What a call is charged for what it cost: all of it, up to the most that one call may cost. Only usage that a vendor tells wrongly, or a
 * price with a slip, comes to more: that is said in the log, with both amounts, and its caller keeps the answer.
 */
export function chargeFor(costNano: NanoUsd, { log, id }: { log: Log; id: string }): NanoUsd {
  if (costNano <= amountNanoMax) return costNano;
  const [cost_usd, charged_usd] = [formatUsd(costNano), formatUsd(amountNanoMax)];
  log.error(
    { id, cost_usd, charged_usd },
    "a call came to more than one call may cost, and was charged the most: check its usage and its price",
  );
  return amountNanoMax;
}

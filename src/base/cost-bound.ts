/** The limit of what one call may cost and be charged. docs/ledger.md. */
import { invalidValue } from "./errors.ts";
import type { Log } from "./log.ts";
import { amountNanoMax, formatUsd, type NanoUsd } from "./money.ts";

/** A field that makes a call expensive, and the cost of the call with that field's least value. */
export interface CostField {
  readonly field: string;
  readonly leastNano: () => NanoUsd;
}

/**
 * Refuses a call that could cost more than any call may. Names the first field whose reduction would help; if none would, `model`, because
 * its price is the cause. @throws GatewayError `invalid_value`
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
 * Returns the charge for a call's cost: all of it, up to the most that one call may cost. Only usage that a vendor misreports, or a
 * mistaken price, comes to more. Then the log has both amounts, and the caller keeps the answer.
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

/** The most that one call may be expected to cost. docs/ledger.md. */
import { invalidValue } from "./errors.ts";
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

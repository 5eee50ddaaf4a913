/** What a call is to the ledger. Amounts are nano-USD. docs/ledger.md. */
import { assert } from "../base/assert.ts";
import { invalidValue } from "../base/errors.ts";
import { amountNanoMax, formatUsd } from "../base/money.ts";

/** A call that asks to be let in. */
export interface ReserveInput {
  /** The gateway's own, and the reference of its entry: unique within the workspace for ever. */
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  /** Which of the key's values was used (tenancy, rotation). */
  readonly keyRotation: number;
  /** Its bound: the most it is expected to cost. */
  readonly amountNano: bigint;
}

/** A call or a task. */
export type CallName = Pick<ReserveInput, "id" | "workspaceId">;
/** A key, by one of its values. */
export type KeyName = Pick<ReserveInput, "workspaceId" | "keyId" | "keyRotation">;

/** What a text call's work came to. */
export interface Spent {
  /** What it is charged; null: nothing. */
  readonly amountNano: bigint | null;
}

/** A field that makes a call dear, and what the call could cost with the least of it. */
export interface CostField {
  readonly field: string;
  readonly leastNano: () => bigint;
}

/**
 * Refuses a call that could cost more than any call may. It names the first of these fields with less of which it could run; where none
 * helps, the model's price is to blame. @throws GatewayError `invalid_value`
 */
export function checkBound(boundNano: bigint, fields: () => readonly CostField[]): void {
  if (boundNano <= amountNanoMax) return;
  const { field } = fields().find(({ leastNano }) => leastNano() <= amountNanoMax) ?? {
    field: "model",
  };
  throw invalidValue(
    field,
    `makes a call that may cost up to $${formatUsd(boundNano)}; one call may cost $${formatUsd(amountNanoMax)} at most`,
  );
}

/** Every amount passes here before it goes out. */
export function checkAmount(amountNano: bigint): void {
  assert(amountNano >= 0n && amountNano <= amountNanoMax, `amount out of range: ${amountNano}`);
}

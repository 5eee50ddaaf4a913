/** What a call is to the ledger. Amounts are nano-USD. docs/ledger.md. */
import { assert } from "../base/assert.ts";
import { amountNanoMax } from "../base/money.ts";

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

/** Every amount passes here before it goes out. */
export function checkAmount(amountNano: bigint): void {
  assert(amountNano >= 0n && amountNano <= amountNanoMax, `amount out of range: ${amountNano}`);
}

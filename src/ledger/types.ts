/** What a call is to the ledger. Amounts are nano-USD. docs/ledger.md. */
import { assert } from "../base/assert.ts";

/** A call or a task: its id is the reference of its entry, unique within the workspace for ever. */
export interface CallName {
  readonly id: string;
  readonly workspaceId: string;
}

/** A key, by one of its values. */
export interface KeyName {
  readonly workspaceId: string;
  readonly keyId: string;
  /** Which of the key's values was used (tenancy, rotation); `anyRotation` where absent. */
  readonly keyRotation?: number | undefined;
}

/** Above every rotation: whether a value of the key still works is not asked. */
export const anyRotation = 2_147_483_647;

/** A call that asks to be let in. Its id is the gateway's own, and no other call has it. */
export interface ReserveInput extends CallName, KeyName {
  /** Its bound: the most it is expected to cost. */
  readonly amountNano: bigint;
}

/** What a text call's work came to. */
export interface Spent {
  /** What it is charged; null: nothing. */
  readonly amountNano: bigint | null;
}

/** Ten million dollars: no sum over a batch can leave the range of a bigint column. */
export const amountNanoMax = 10_000_000n * 1_000_000_000n;

/** Every amount passes here before it goes out. */
export function checkAmount(amountNano: bigint): void {
  assert(amountNano >= 0n && amountNano <= amountNanoMax, `amount out of range: ${amountNano}`);
}

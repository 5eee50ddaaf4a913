/** What a call is to the ledger. Amounts are nano-USD. docs/ledger.md. */

/** A call or a task: its id is the reference of its entry, unique within the workspace for ever. */
export interface CallName {
  readonly id: string;
  readonly workspaceId: string;
}

/** Above every rotation: whether a value of the key still works is not asked. */
export const anyRotation = 2_147_483_647;

/** A call that asks to be let in. Its id is the gateway's own, and no other call has it. */
export interface ReserveInput extends CallName {
  readonly keyId: string;
  /** Which of the key's values was used (tenancy, rotation); `anyRotation` where absent. */
  readonly keyRotation?: number | undefined;
  /** Its bound: the most it is expected to cost. */
  readonly amountNano: bigint;
}

/** What a text call's work came to. */
export interface Spent {
  /** What it is charged; null: nothing. */
  readonly amountNano: bigint | null;
}

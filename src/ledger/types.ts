/** Input and result types of the ledger's operations. Amounts are nano-USD. docs/ledger.md. */

/** A call that asks for admission. */
export interface ReserveInput {
  /** Made by the gateway, and also the reference of the call's entry: unique within the workspace for ever. */
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
  /** The rotation number of the key value that the caller used (tenancy, rotation). */
  readonly keyRotation: number;
  /** Its bound: the most it is expected to cost. */
  readonly amountNano: bigint;
}

/** Identifies a call or a task. */
export type CallName = Pick<ReserveInput, "id" | "workspaceId">;
/** Identifies a key and one of its values. */
export type KeyName = Pick<ReserveInput, "workspaceId" | "keyId" | "keyRotation">;

/** The result of a text call's work. */
export interface Spent {
  /** The amount to charge; null charges nothing. */
  readonly amountNano: bigint | null;
}

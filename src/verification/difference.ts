/** What `tollgate verify` finds. */

/** One number that is not what its sources add up to. */
export interface Difference {
  readonly workspaceId: string;
  /** Which number: `account credits`, `key key_1 daily`, `entry entry_7 balance_after`, `usage of ...`. */
  readonly what: string;
  /** Nano-USD, or a count where `what` says so. */
  readonly recordedNano: bigint;
  readonly computedNano: bigint;
}

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

/** Whether its numbers are of things, such as calls of a day or entries of an open hold, and no money. */
export const isCount = ({ what }: Pick<Difference, "what">): boolean =>
  what.endsWith(", requests") || /^hold \S+ is open/.test(what);

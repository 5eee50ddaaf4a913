/** The result of `tollgate verify`. */

/** A recorded number that differs from the sum of its sources. */
export interface Difference {
  readonly workspaceId: string;
  /** Names the number: `account credits`, `key key_1 daily`, `entry entry_7 balance_after`, `usage of ...`. */
  readonly what: string;
  /** Nano-USD, or a count if `what` says so. */
  readonly recordedNano: bigint;
  readonly computedNano: bigint;
}

/** True if the numbers are counts, not money: calls of a day, or entries of an open hold. */
export const isCount = ({ what }: Pick<Difference, "what">): boolean =>
  what.endsWith(", requests") || /^hold \S+ is open/.test(what);

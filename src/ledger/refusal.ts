/** Turns the database's refusal of a call into the error for its caller. Requirements: ERR; docs/decisions.md "Spend caps". */
import { GatewayError } from "../base/errors.ts";
import { keyError, type KeyRefusal } from "../base/key-errors.ts";
import { smaller } from "../base/money.ts";
import { balanceError, capError } from "../base/spend-errors.ts";

/** Milliseconds that a call waits for unused reservations of others, if it would fit with those. */
export const idleWaitMs = 150;
/** Milliseconds between the retries of such a call. */
export const idleRetryMs = 20;

/** The database's answer for a refused call, or for the refused calls of one key. */
export interface Answer {
  /** Why the call is refused whatever its amount; else null. */
  readonly refusal: KeyRefusal | "queue_full" | null;
  /** The balance left; without limit, the rest of the most that may be charged. Null only for an unknown workspace. */
  readonly available: bigint | null;
  /** The room of each of the twelve caps; null: no cap, or a soft cap that is not reached. */
  readonly rooms: readonly (bigint | null)[];
  readonly caps: readonly (bigint | null)[];
  /** The unused part of the workspace's other allowances. */
  readonly idle: bigint;
  /** The time of the decision, by the database's clock. */
  readonly at: Date;
}

const queueFull = (): GatewayError =>
  new GatewayError(
    "queue_full",
    "Too many image and video calls are in flight; nothing was reserved.",
    { retryAfterSeconds: 10 },
  );

/**
 * Returns the error that refuses a call of this `bound`, if `free` is already set aside for its key. Undefined if it would fit alone.
 * Codes and messages: docs/decisions.md "Spend caps", docs/decisions.md "Queue limits".
 */
export function refusalOf(answer: Answer, bound: bigint, free = 0n): GatewayError | undefined {
  if (answer.refusal === "queue_full") return queueFull();
  if (answer.refusal !== null) return keyError(answer.refusal);
  const { rooms, available } = answer;
  const isOver = (room: bigint | null): boolean => room !== null && bound - free > room;
  // The first that applies is reported: caps of workspace, member, key, each from its longest window, then the balance.
  const cap = rooms.findIndex(isOver);
  if (cap >= 0) {
    const { caps, at } = answer;
    return capError(cap, caps[cap]!, at, { bound, left: rooms[cap]! + free });
  }
  if (!isOver(available)) return undefined;
  return balanceError({ bound, left: leftFor(answer, bound, free) });
}

/**
 * Returns the amount that the error names as left. Like the balance at rest (admin/reads/balances.ts), it includes unused reservations,
 * here and elsewhere. It leaves out those elsewhere if the call would fit with them, because the call waited for them in vain.
 */
function leftFor({ available, idle }: Answer, bound: bigint, free: bigint): bigint {
  const own = available! + free;
  return own + idle < bound ? own + idle : own;
}

/** Returns the smallest room, the most that may be asked for; more than any amount if nothing limits it. */
export const roomOf = ({ rooms, available }: Answer): bigint =>
  [...rooms, available].filter((room) => room !== null).reduce(smaller, 2n ** 62n);

/** True if a refused call would fit once others return their unused reservations, which takes them a moment at most. */
export const mayFitSoon = (answer: Answer, bound: bigint): boolean =>
  answer.refusal === null && answer.idle > 0n && bound <= roomOf(answer) + answer.idle;

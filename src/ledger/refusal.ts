/** Why the database did not let a call in, and the error that its caller gets. Requirements: ERR; docs/decisions.md "Spend caps". */
import { GatewayError, type ErrorCode } from "../base/errors.ts";
import { smaller } from "../base/money.ts";
import { balanceError, capError } from "../base/spend-errors.ts";

/** How long a call that fits but for what others have set aside and do not use waits for it. */
export const idleWaitMs = 150;
/** How often it is asked for meanwhile. */
export const idleRetryMs = 20;

/** What the database says to a call that it does not let in, or to those of one key. */
export interface Answer {
  /** Why it is let in on no account: one of those below. */
  readonly refusal: string | null;
  /** What the balance leaves; null: without limit. */
  readonly available: bigint | null;
  /** The room of each of the twelve caps; null: no cap, or a soft one that is not reached. */
  readonly rooms: readonly (bigint | null)[];
  readonly caps: readonly (bigint | null)[];
  /** What others have set aside in the workspace and do not use. */
  readonly idle: bigint;
  /** When it was decided. */
  readonly at: Date;
}

const refusals: Readonly<Record<string, readonly [ErrorCode, string, retrySeconds?: number]>> = {
  key_unknown: ["invalid_api_key", "The API key is unknown."],
  key_disabled: ["api_key_disabled", "The API key is disabled."],
  key_revoked: ["api_key_revoked", "The API key was revoked."],
  key_expired: ["api_key_expired", "The API key has expired."],
  workspace_disabled: ["workspace_disabled", "The workspace of this API key is disabled."],
  queue_full: [
    "queue_full",
    "Too many image and video calls are in flight; nothing was reserved.",
    10,
  ],
};

/**
 * What refuses a call that may cost `bound`, of which `free` is set aside already; undefined where it would fit alone.
 * Codes and messages: docs/decisions.md "Spend caps", docs/decisions.md "Queue limits".
 */
export function refusalOf(answer: Answer, bound: bigint, free = 0n): GatewayError | undefined {
  if (answer.refusal !== null) {
    const [code, message, retryAfterSeconds] = refusals[answer.refusal]!;
    return new GatewayError(code, message, { retryAfterSeconds });
  }
  const { rooms, available } = answer;
  const isOver = (room: bigint | null): boolean => room !== null && bound - free > room;
  // The order in which it is told: workspace, member, key, each from its longest window, then the balance.
  const cap = rooms.findIndex(isOver);
  if (cap >= 0) {
    const { caps, at } = answer;
    return capError(cap, caps[cap]!, at, { bound, left: rooms[cap]! + free });
  }
  if (!isOver(available)) return undefined;
  return balanceError({ bound, left: leftFor(answer, bound, free) });
}

/**
 * What the balance says at rest (admin/reads/balances.ts): also what is set aside for calls to come and not used, here and elsewhere. Without the
 * latter where a call would fit with it that waited for it in vain.
 */
function leftFor({ available, idle }: Answer, bound: bigint, free: bigint): bigint {
  const own = available! + free;
  return own + idle < bound ? own + idle : own;
}

/** The least room of all, how much may be asked for; above all amounts where nothing limits it. */
export const roomOf = ({ rooms, available }: Answer): bigint =>
  [...rooms, available].filter((room) => room !== null).reduce(smaller, 2n ** 62n);

/** Whether what is refused would fit if others returned what they have set aside and do not use, which takes them a moment at most. */
export const fitsButForIdle = (answer: Answer, bound: bigint): boolean =>
  answer.refusal === null && answer.idle > 0n && bound <= roomOf(answer) + answer.idle;

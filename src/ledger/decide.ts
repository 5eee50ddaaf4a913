/** What a key's answer means for those who wait: let in, refused, or to be asked for again. docs/ledger.md "Admission". */
import type { BatchRow } from "./batch.ts";
import type { KeyUse, Waiting } from "./key-use.ts";
import { layers, resetsAt, windows } from "./periods.ts";
import type { KeyRefusal, Refusal } from "./types.ts";

/** How long a call that fits but for what others have set aside and do not use waits for it. */
export const idleWaitMs = 150;
/** How often it is asked for meanwhile. */
export const idleRetryMs = 20;

/** Why something is not let in, as the database reports it. */
export type Answer = Pick<BatchRow, "available" | "rooms" | "caps" | "idle" | "at"> & {
  readonly refusal: string | null;
};

const isShort = (room: bigint | null | undefined, bound: bigint): boolean =>
  room !== null && room !== undefined && bound > room;

/**
 * The refusal of a call that asks for `bound` beyond what `answer` says is set aside already; undefined where it would fit alone.
 * Caps before the balance: workspace, member, key, each from its longest window.
 */
export function refusalOf(answer: Answer, bound: bigint): Refusal | undefined {
  if (answer.refusal !== null) return { outcome: answer.refusal as KeyRefusal };
  const rooms = answer.rooms ?? [];
  const cap = rooms.findIndex((room) => isShort(room, bound));
  if (cap >= 0) {
    const window = windows[cap % windows.length]!;
    return {
      outcome: "cap_reached",
      layer: layers[Math.floor(cap / windows.length)]!,
      window,
      limitNano: answer.caps?.[cap] ?? 0n,
      resetsAt: resetsAt(window, (answer.at ?? new Date()).getTime()),
    };
  }
  if (isShort(answer.available, bound))
    return { outcome: "insufficient_balance", availableNano: answer.available ?? 0n };
  return undefined;
}

/** The least room of all: what may be asked for in all. */
function roomOf({ available, rooms }: Answer): bigint {
  const all = [available, ...(rooms ?? [])].filter((room) => room !== null);
  const room = all.reduce((one, other) => (other < one ? other : one), 2n ** 62n);
  return room > 0n ? room : 0n;
}

/** Whether what is refused would fit if others returned what they do not use. */
export const fitsButForIdle = (answer: Answer, bound: bigint): boolean =>
  answer.refusal === null &&
  (answer.idle ?? 0n) > 0n &&
  ![answer.available, ...(answer.rooms ?? [])].some((room) =>
    isShort(room === null ? null : room + (answer.idle ?? 0n), bound),
  );

export interface Decided {
  readonly waiting: Waiting;
  readonly refusal: Refusal | undefined;
}

/**
 * Decides those who waited for a batch sent at `sentAt`, in their order; who came later is let in only where the key is trusted at
 * `nowMs`, and refused by the next batch at the soonest. Those let in are counted as in use.
 */
export function decide(key: KeyUse, row: Answer, sentAt: number, nowMs: number): Decided[] {
  const decided: Decided[] = [];
  const isTrusted = key.isTrusted(nowMs);
  const letIn = row.at === null;
  let retry = false;
  const taken = key.takeWaiting((waiting) => {
    const { bound, since } = waiting;
    const wasAsked = since <= sentAt;
    // The database found something against the key: of that, only what each call would meet alone counts.
    const refusal = letIn ? undefined : refusalOf(row, bound - key.free);
    if (refusal === undefined && bound <= key.free && (wasAsked || isTrusted)) {
      key.begin(bound, nowMs);
      decided.push({ waiting, refusal });
      return true;
    }
    if (refusal === undefined || !wasAsked) return false;
    if (nowMs - since < idleWaitMs && fitsButForIdle(row, bound - key.free)) {
      retry = true;
      return false;
    }
    decided.push({ waiting, refusal });
    return true;
  });
  key.room = letIn ? undefined : roomOf(row);
  key.retryAt = retry && taken.length === 0 ? nowMs + idleRetryMs : 0;
  return decided;
}

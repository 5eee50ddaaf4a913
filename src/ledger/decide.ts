/** What a key's answer means for it, and for those who wait: let in, refused, or to be asked for again. docs/ledger.md "Admission". */
import type { Target } from "./batch.ts";
import { split } from "./key-use.ts";
import {
  fitsButForIdle,
  idleRetryMs,
  idleWaitMs,
  refusalOf,
  roomOf,
  type Answer,
} from "./refusal.ts";

/**
 * Decides those who waited for a batch sent at `sentAt`, in their order; who came later is let in only where the key is trusted at
 * `nowMs`, and refused by the next batch at the soonest. Those let in are counted as in use. Answers with what tells them.
 */
export function decide(target: Target, row: Answer, sentAt: number, nowMs: number): (() => void)[] {
  const { key, need, keep, headroom } = target;
  if (need === null) return [];
  const letIn = row.at === null;
  if (letIn) key.checked(sentAt, target.epoch);
  key.roomy = letIn && keep + headroom > 0n && key.granted >= need + keep + headroom;
  const isTrusted = key.isTrusted(nowMs);
  const told: (() => void)[] = [];
  let retry = false;
  [, key.waiting] = split(key.waiting, ({ bound, since, resolve, reject }) => {
    const wasAsked = since <= sentAt;
    if (!wasAsked && !isTrusted) return false;
    // The database found something against the key: of that, only what each call would meet alone counts.
    const refusal = letIn ? undefined : refusalOf(row, bound, key.free);
    if (refusal === undefined) {
      if (bound > key.free) return false;
      key.begin(bound, nowMs);
      told.push(resolve);
      return true;
    }
    if (!wasAsked) return false;
    if (nowMs - since < idleWaitMs && fitsButForIdle(row, bound - key.free)) {
      retry = true;
      return false;
    }
    told.push(() => reject(refusal));
    return true;
  });
  key.room = letIn ? undefined : roomOf(row);
  key.retryAt = retry && told.length === 0 ? nowMs + idleRetryMs : 0;
  return told;
}

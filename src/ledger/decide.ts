/** What a key's answer means for it, and for those who wait: let in, refused, or to be asked for again. docs/ledger.md "Admission". */
import type { BatchRow, Target } from "./batch.ts";
import { fitsButForIdle, idleWaitMs, refusalOf, roomOf } from "./refusal.ts";

/**
 * Decides those who waited for a batch sent at `sentAt`, in their order; who came later is let in only where the key is trusted at
 * `nowMs`, and refused by the next batch at the soonest. Those let in are counted as in use. Answers with what tells them.
 */
export function decide(
  target: Target,
  row: BatchRow,
  sentAt: number,
  nowMs: number,
): (() => void)[] {
  const { key, need, keep, headroom } = target;
  key.patient = false;
  if (need === null) return [];
  const refused = row.at === null ? undefined : row;
  if (refused === undefined) key.checkedAt = sentAt;
  key.roomy =
    refused === undefined && keep + headroom > 0n && key.granted >= need + keep + headroom;
  const isTrusted = key.isTrusted(nowMs);
  const told: (() => void)[] = [];
  key.waiting = key.waiting.filter(({ bound, since, resolve, reject }) => {
    const wasAsked = since <= sentAt;
    if (!wasAsked && !isTrusted) return true;
    // The database found something against the key: of that, only what each call would meet alone counts.
    const refusal = refused && refusalOf(refused, bound, key.free);
    if (refusal === undefined) {
      if (bound > key.free) return true;
      key.begin(bound, nowMs);
      told.push(resolve);
      return false;
    }
    if (!wasAsked) return true;
    if (nowMs - since < idleWaitMs && fitsButForIdle(refused!, bound - key.free)) {
      key.patient = true;
      return true;
    }
    told.push(() => reject(refusal));
    return false;
  });
  key.room = refused && roomOf(refused);
  // Where somebody was told, there may be room for them now.
  key.patient &&= told.length === 0;
  return told;
}

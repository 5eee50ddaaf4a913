/** Applies a key's answer to its waiting calls: lets in, refuses, or leaves for a later batch. docs/ledger.md "Admission". */
import type { BatchRow, Target } from "./batch.ts";
import { mayFitSoon, idleWaitMs, refusalOf, roomOf } from "./refusal.ts";

/**
 * Decides the calls that waited for a batch sent at `sentAt`, in their order. A later call is let in only if the key is trusted at `nowMs`;
 * only a later batch may refuse it. Counts admitted calls as in use. Returns callbacks that settle the promises.
 */
export function decide(
  target: Target,
  row: BatchRow,
  sentAt: number,
  nowMs: number,
): (() => void)[] {
  const { key, need, keep, headroom } = target;
  key.waitsForHeadroom = false;
  if (need === null) return [];
  const refused = row.at === null ? undefined : row;
  if (refused === undefined) key.checkedAt = sentAt;
  key.headroomGranted =
    refused === undefined && keep + headroom > 0n && key.granted >= need + keep + headroom;
  const isTrusted = key.isTrusted(nowMs);
  const settlers: (() => void)[] = [];
  key.waiting = key.waiting.filter(({ bound, since, resolve, reject }) => {
    const wasAsked = since <= sentAt;
    if (!wasAsked && !isTrusted) return true;
    // The database refused the key's calls together. A call is refused only if it would be refused alone.
    const refusal = refused && refusalOf(refused, bound, key.free);
    if (refusal === undefined) {
      if (bound > key.free) return true;
      key.begin(bound, nowMs);
      settlers.push(resolve);
      return false;
    }
    if (!wasAsked) return true;
    if (nowMs - since < idleWaitMs && mayFitSoon(refused!, bound - key.free)) {
      key.waitsForHeadroom = true;
      return true;
    }
    settlers.push(() => reject(refusal));
    return false;
  });
  key.room = refused && roomOf(refused);
  // If a call was let in or refused, the others may fit now: do not wait.
  key.waitsForHeadroom &&= settlers.length === 0;
  return settlers;
}

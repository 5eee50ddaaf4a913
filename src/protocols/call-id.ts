/** Ids for what the upstream sent without one. Trap T21. */

/** Returns an id for a call. It contains the answer's id, so that it differs from calls of earlier turns; without one, a random id. */
export const callId = (answerId: string, index: number | string): string =>
  partId("call", answerId, index);

/** Returns an id for a part of an answer. */
export function partId(start: string, answerId: string, index: number | string): string {
  const own = answerId.replace(/[^A-Za-z0-9]/g, "").slice(-32);
  return `${start}_${own === "" ? crypto.randomUUID().replaceAll("-", "") : own}_${index}`;
}

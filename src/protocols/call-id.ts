/** Ids of calls: those for what the upstream sent without one, and the mark of a server's own. Trap T21. */

/** Returns an id for a call. It contains the answer's id, so that it differs from calls of earlier turns; without one, a random id. */
export const callId = (answerId: string, index: number | string): string =>
  partId("call", answerId, index);

/** Returns an id for a call of one of several choices, by the places of both. */
export const callIdIn = (answerId: string, choice: unknown, place: number): string =>
  callId(answerId, typeof choice === "number" && choice > 0 ? `${choice}_${place}` : place);

/** Returns an id for a part of an answer. */
export function partId(start: string, answerId: string, index: number | string): string {
  const own = answerId.replace(/[^A-Za-z0-9]/g, "").slice(-32);
  return `${start}_${own === "" ? crypto.randomUUID().replaceAll("-", "") : own}_${index}`;
}

/**
 * True for the id of a call that Claude's servers made and answered. LiteLLM lists such calls in chat among those that the caller has to make
 * (lisette#66).
 */
export const isServerCall = (id: string | undefined): boolean =>
  id?.startsWith("srvtoolu_") === true;

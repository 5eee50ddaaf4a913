/** Ids of tool calls whose upstream gives none. Trap T21. */

/**
 * An id for a call. The answer's own id keeps it apart from those of earlier turns; where the upstream gives none of that
 * either, a random one does.
 */
export function callId(answerId: string, index: number | string): string {
  const own = answerId.replace(/[^A-Za-z0-9]/g, "").slice(-32);
  return `call_${own === "" ? crypto.randomUUID().replaceAll("-", "") : own}_${index}`;
}

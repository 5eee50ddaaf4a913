/**
 * Limits log lines that strangers can cause at will, or that a lasting failure repeats: one line per interval, with the number of events.
 */

/**
 * Returns a counter. A call returns the number of calls since the last one that returned a number, this one included. Within `everyMs`
 * after that it returns undefined.
 */
export function throttleCounter(everyMs: number): () => number | undefined {
  let count = 0;
  let returnedMs = -Infinity;
  return () => {
    count += 1;
    const nowMs = performance.now();
    if (nowMs - returnedMs < everyMs) return undefined;
    const told = count;
    returnedMs = nowMs;
    count = 0;
    return told;
  };
}

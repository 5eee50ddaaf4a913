/** For log lines that strangers can cause at will, or that a lasting trouble repeats: one of them in so long a time, with the number that it stands for. */

/**
 * Counts what happens. A call returns how often it was called since the last one that returned a number, this one included;
 * undefined within `everyMs` after that.
 */
export function atIntervals(everyMs: number): () => number | undefined {
  let count = 0;
  let toldMs = -Infinity;
  return () => {
    count += 1;
    const nowMs = performance.now();
    if (nowMs - toldMs < everyMs) return undefined;
    const told = count;
    toldMs = nowMs;
    count = 0;
    return told;
  };
}

/**
 * Histograms of durations as the database sums them: one number of 64 counters, 12 decimal digits each (storage/baseline/11_usage.sql).
 * Counter n counts durations from 1.25^n ms up to 1.25^(n + 1) ms.
 */

const factor = 1.25;
const counters = 64;
const digits = 12;

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** Returns the counters of a histogram, the shortest duration first. `text`: a whole number, not negative. */
function countersOf(text: string): number[] {
  const counts: number[] = [];
  for (let end = text.length; end > 0 && counts.length < counters; end -= digits)
    counts.push(Number(text.slice(Math.max(0, end - digits), end)));
  return counts;
}

/** Returns the middle of a counter: within 12 % of every duration that it counts, except in the last one. */
const middleMs = (place: number): number =>
  place === 0 ? 1 : Math.round(factor ** place * Math.sqrt(factor));

/** Returns the 50th and 95th percentile in milliseconds, within 12 %; null without durations. */
export function percentilesOf(text: string): Percentiles | null {
  const counts = countersOf(text);
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  const at = (share: number): number => {
    let left = Math.ceil(all * share);
    return middleMs(counts.findIndex((count) => (left -= count) <= 0));
  };
  return { p50: at(0.5), p95: at(0.95) };
}

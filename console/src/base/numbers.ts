/** Counts and durations for reading. */

const groupedFrom = 100_000;

/** 1204 as "1,204", 128400 as "128.4k", 3210000 as "3.21M". */
export function readCount(count: number): string {
  if (count < groupedFrom) return count.toLocaleString("en-US");
  const [unit, size] = count < 1_000_000 ? ["k", 1000] : ["M", 1_000_000];
  const digits = unit === "k" ? 1 : 2;
  return `${(Math.floor((count / size) * 10 ** digits) / 10 ** digits).toFixed(digits)}${unit}`;
}

/** 380 as "380 ms", 1420 as "1.42 s", 125000 as "2 m 05 s". */
export function readDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 10) / 100).toFixed(2)} s`;
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, "0")} s`;
}

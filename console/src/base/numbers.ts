/** Formats counts, durations and shares for display. */

const groupedFrom = 100_000;

const units = [
  ["B", 1_000_000_000, 2],
  ["M", 1_000_000, 2],
  ["k", 1_000, 1],
] as const;

/** 1204 as "1,204", 128400 as "128.4k", 400000 as "400k", 3210000 as "3.21M", 17530000000 as "17.53B". */
export function readCount(count: number): string {
  if (count < groupedFrom) return readWhole(count);
  const [unit, size, digits] = units.find(([, least]) => count >= least)!;
  const text = (Math.floor((count / size) * 10 ** digits) / 10 ** digits).toFixed(digits);
  return `${text.replace(/\.0+$/, "")}${unit}`;
}

/** All digits, grouped: 128400 as "128,400", 1.5 as "1.5". At most six decimals. */
export const readWhole = (count: number): string =>
  count.toLocaleString("en-US", { maximumFractionDigits: 6 });

/** 380 as "380 ms", 1420 as "1.42 s", 125000 as "2 m 05 s". */
export function readDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 10) / 100).toFixed(2)} s`;
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, "0")} s`;
}

const grouped = (count: bigint): string => count.toLocaleString("en-US");

/** The share of `part` in `whole`, in units of one over `parts`, rounded half up. @param whole above 0 */
const partsOf = (part: bigint, whole: bigint, parts: bigint): bigint =>
  (2n * part * parts + whole) / (2n * whole);

function percentOf(part: bigint, whole: bigint): string {
  if (part === 0n) return "0 %";
  const tenths = partsOf(part, whole, 1000n);
  if (tenths === 0n) return "< 0.1 %";
  return tenths < 100n
    ? `${tenths / 10n}.${tenths % 10n} %`
    : `${grouped(partsOf(part, whole, 100n))} %`;
}

/** "42 %", "4.2 %", "< 0.1 %"; "-" if the whole is 0. Neither may be below 0. */
export const readShare = (part: bigint, whole: bigint): string =>
  whole === 0n ? "-" : percentOf(part, whole);

/** The change since before: "+12 %", "-3.1 %", "new" if it was 0, "" if both are 0. */
export function readChange(now: bigint, before: bigint): string {
  if (before === 0n) return now === 0n ? "" : "new";
  const more = now - before;
  if (more === 0n) return "0 %";
  return more > 0n ? `+${percentOf(more, before)}` : `-${percentOf(-more, before)}`;
}

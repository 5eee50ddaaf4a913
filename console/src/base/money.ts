/** Money: decimal text of USD in the API, whole nano-dollars here. Never a float. */

const digits = 9;
const shape = /^(-?)(\d+)(?:\.(\d{1,9}))?$/;

/** Parses "1.25" to 1250000000n. @throws Error for anything but decimal text */
export function parseUsd(text: string): bigint {
  const [, sign, whole, part = ""] = shape.exec(text) ?? [];
  if (whole === undefined) throw new Error(`not an amount: ${text}`);
  const nano = BigInt(whole + part.padEnd(digits, "0"));
  return sign === "-" ? -nano : nano;
}

/** The inverse of {@link parseUsd}, as the API sends it: "1234.5", without trailing zeros. */
export function usdText(nano: bigint): string {
  const [sign, size] = nano < 0n ? ["-", -nano] : ["", nano];
  const text = String(size).padStart(digits + 1, "0");
  const part = text.slice(-digits).replace(/0+$/, "");
  return `${sign}${text.slice(0, -digits)}${part === "" ? "" : `.${part}`}`;
}

const grouped = (whole: string): string => whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");

/** Groups the digits of a decimal: "1234.5" as "1,234.5". */
export function groupedDecimal(text: string): string {
  const [whole = "", part] = text.split(".");
  return `${grouped(whole)}${part === undefined ? "" : `.${part}`}`;
}

/** All digits without trailing zeros: 0.000125, 1.5, 0. */
export const exactUsd = (nano: bigint): string => groupedDecimal(usdText(nano));

/** Rounds to the nearest multiple, halves away from zero. */
function rounded(nano: bigint, unit: bigint): bigint {
  const half = unit / 2n;
  return ((nano < 0n ? nano - half : nano + half) / unit) * unit;
}

const dollar = 1_000_000_000n;
const cent = 10_000_000n;

/** For display: two decimals from one dollar up, otherwise four significant digits; 0 is 0. */
export function readUsd(nano: bigint): string {
  const size = nano < 0n ? -nano : nano;
  if (size === 0n) return "0";
  const beyond = String(size).length - 4;
  const near = beyond > 0 && size < dollar ? rounded(nano, 10n ** BigInt(beyond)) : nano;
  if (near < dollar && near > -dollar) return exactUsd(near);
  const [whole, part = ""] = exactUsd(rounded(near, cent)).split(".");
  return `${whole}.${part.padEnd(2, "0")}`;
}

const units = [
  ["B", 1_000_000_000n],
  ["M", 1_000_000n],
  ["k", 1_000n],
] as const;
const briefFrom = 10_000n * dollar;
const tinyBelow = 1_000_000n;

/** "1.234e-4": up to four significant digits and a power of ten. */
function tinyUsd(nano: bigint): string {
  const [sign, text] = nano < 0n ? ["-", String(-nano)] : ["", String(nano)];
  const part = text.slice(1, 4).replace(/0+$/, "");
  return `${sign}${text.slice(0, 1)}${part === "" ? "" : `.${part}`}e-${digits + 1 - text.length}`;
}

/**
 * Short form for narrow places: "12.34M", "90M", "999.99k"; below 0.001 "1.234e-4". Truncated, not rounded, so that a cap does not
 * seem reached. In between as `readUsd`.
 */
export function briefUsd(nano: bigint): string {
  const size = nano < 0n ? -nano : nano;
  if (size > 0n && size < tinyBelow) return tinyUsd(nano);
  if (size < briefFrom) return readUsd(nano);
  const [unit, least] = units.find(([, from]) => size >= from * dollar)!;
  const hundredths = (size * 100n) / (least * dollar);
  const text = exactUsd(hundredths * cent);
  return `${nano < 0n ? "-" : ""}${text}${unit}`;
}

/** The share of a part in percent, with one decimal; 100 if the whole is zero. */
export function shareOf(part: bigint, whole: bigint): number {
  if (whole <= 0n) return 100;
  return Number((part * 1000n) / whole) / 10;
}

/** All nine decimals, so that the points of amounts in a column align: "-1,234.500000000". */
export function fullUsd(nano: bigint): string {
  const [whole, part = ""] = exactUsd(nano).split(".");
  return `${whole}.${part.padEnd(digits, "0")}`;
}

const counted = (count: bigint, one: string): string =>
  `${grouped(String(count))} ${one}${count === 1n ? "" : "s"}`;

/** "25 dollars and 50 cents", "1 dollar", "minus 3 cents and 5 nano-dollars": spells out an amount before it is paid. */
export function spokenUsd(nano: bigint): string {
  const size = nano < 0n ? -nano : nano;
  const parts = [
    [size / dollar, "dollar"],
    [(size % dollar) / cent, "cent"],
    [size % cent, "nano-dollar"],
  ] as const;
  const words = parts.filter(([count]) => count > 0n).map(([count, one]) => counted(count, one));
  return `${nano < 0n ? "minus " : ""}${words.join(" and ") || counted(0n, "dollar")}`;
}

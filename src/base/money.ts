/**
 * Money: nano-USD in bigint, decimal strings on the wire, no floats anywhere.
 * Requirements: TASK (`cost`), docs/decisions.md "Money".
 */
import { assert } from "./assert.ts";

/** An amount in nano-dollars (1 USD = 1,000,000,000). */
export type NanoUsd = bigint;

const nanosPerUsd = 1_000_000_000n;
/** Ten million dollars, the most of one amount: no sum over a batch of the ledger can leave the range of a bigint column. */
export const amountNanoMax = 10_000_000n * nanosPerUsd;
const nanoDecimals = 9;

/** Checks an amount before it is sent to the database. */
export function assertAmount(amountNano: NanoUsd): void {
  assert(amountNano >= 0n && amountNano <= amountNanoMax, `amount out of range: ${amountNano}`);
}

export const smaller = (one: NanoUsd, other: NanoUsd): NanoUsd => (one < other ? one : other);
export const larger = (one: NanoUsd, other: NanoUsd): NanoUsd => (one > other ? one : other);

/**
 * Reads a decimal USD string ("25.00", "0.000000001", "-1") as nano-dollars.
 * @throws RangeError on anything that is not a plain decimal number, or has more than nine decimals.
 */
export function parseUsd(text: string): NanoUsd {
  const match = /^(-?)(\d{1,18})(?:\.(\d{1,9}))?$/.exec(text);
  if (!match) throw new RangeError(`not a decimal USD amount with at most 9 decimals: "${text}"`);
  const [, sign, whole, fraction = ""] = match;
  const nanos = BigInt(whole!) * nanosPerUsd + BigInt(fraction.padEnd(9, "0"));
  return sign === "-" ? -nanos : nanos;
}

/** Writes nano-dollars as a plain decimal USD string: no exponent, no trailing zeros ("0.06", "0"). */
export const formatUsd = (nanos: NanoUsd): string => formatDecimal(nanos, nanoDecimals);

/** Writes a number given in units of its last decimal: `formatDecimal(1500n, 3)` is "1.5". */
export function formatDecimal(value: bigint, decimals: number): string {
  const sign = value < 0n ? "-" : "";
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return fraction === "" ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/**
 * Money: nano-USD in bigint, decimal strings on the wire, no floats anywhere.
 * Requirements: TASK (`cost`), docs/decisions.md "Money".
 */

/** An amount in nano-dollars (1 USD = 1,000,000,000). */
export type NanoUsd = bigint;

const nanosPerUsd = 1_000_000_000n;

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
export function formatUsd(nanos: NanoUsd): string {
  const sign = nanos < 0n ? "-" : "";
  const magnitude = nanos < 0n ? -nanos : nanos;
  const fraction = (magnitude % nanosPerUsd).toString().padStart(9, "0").replace(/0+$/, "");
  const whole = magnitude / nanosPerUsd;
  return fraction === "" ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/**
 * Price of `units` at `nanosPerMillion` nano-dollars per million units, rounded up to a whole nano-dollar
 * so that a charge is never below its price.
 */
export function priceOfUnits(units: number, nanosPerMillion: NanoUsd): NanoUsd {
  if (!Number.isSafeInteger(units) || units < 0) throw new RangeError(`not a count: ${units}`);
  const product = BigInt(units) * nanosPerMillion;
  return (product + 999_999n) / 1_000_000n;
}

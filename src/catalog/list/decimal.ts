/** Reads a JSON number as a decimal price from its text, never through a float. */
import { formatUsd } from "../../base/money.ts";

const decimals = 9;
const written = /^(-?)(\d{1,30})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * Converts a JSON number's text ("0.25", "5e-8", "0.049999999999999996") to a decimal amount of at most nine decimals. Halves
 * are rounded up, because lists are generated from floats. Undefined if the text is not such a number.
 */
export function decimalOf(text: string): string | undefined {
  const match = written.exec(text);
  if (!match) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const digits = BigInt(whole + fraction);
  const shift = decimals - fraction.length + Number(exponent);
  const nanos = shift >= 0 ? digits * 10n ** BigInt(shift) : rounded(digits, 10n ** BigInt(-shift));
  return formatUsd(sign === "-" ? -nanos : nanos);
}

const rounded = (digits: bigint, unit: bigint): bigint => (digits + unit / 2n) / unit;

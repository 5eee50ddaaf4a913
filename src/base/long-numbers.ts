/**
 * Finds numbers of a JSON text that a double may not hold, or that JSON does not write back: those are read again, exactly. Works on a text
 * and on its bytes: vectors are millions of numbers with 16 and 17 digits each, and bytes need no text for each of them.
 */

/** Zero with a sign, which JSON writes without the sign. */
const negativeZero = String.raw`-0(?![.\d]*[1-9])`;
/**
 * A number that a double may not hold: a whole one of 16 digits or more, a decimal of 18 or more, or one with a large exponent. Doubles
 * themselves are written with up to 17 digits, so decimals of 16 and 17 count as doubles.
 */
const longNumber = String.raw`${negativeZero}|-?(?:\d{16}|0\.0*[1-9]\d{17}|[1-9][\d.]{18}|\d[\d.]*[eE][+-]?\d{3})`;
const before = String.raw`[[:,]\s*`;
const oneLong = new RegExp(`${before}(?:${longNumber})`);

/** Finds each of them in the parts of a text outside its strings. */
export const allLong = new RegExp(String.raw`${before}((?:${longNumber})[\d.eE+-]*)`, "g");

/** True if a JSON text may hold such a number; never false if an object or a list has one. */
export const mayHoldLongNumbers = (text: string): boolean => oneLong.test(text);

/**
 * The least characters of such a number, and of one that is not zero; the least digits of a whole one, of a decimal, and of an exponent.
 */
export const exactMin = "-0".length;
const longNumberMin = "1e400".length;
const longDigitsMin = 16;
const longDecimalMin = 18;
const longExponentMin = 3;

const minus = 45;
const dot = 46;
const zero = 48;
const nine = 57;
const smallE = 101;
const capitalE = 69;

/** True if a value of these bytes, which end before its separator, may be such a number; never false for one. */
export function isLongNumber(bytes: Uint8Array, from: number, to: number): boolean {
  if (bytes[from] === minus && isZero(bytes, from + 1, to)) return true;
  if (to - from < longNumberMin) return false;
  const first = bytes[from] === minus ? from + 1 : from;
  let index = first;
  let digits = 0;
  let enough = longDigitsMin;
  for (; index < to; index += 1) {
    const code = bytes[index]!;
    if (code === dot) enough = longDecimalMin;
    else if (!isDigit(code)) break;
    else if (code !== zero || digits > 0) digits += 1;
    if (digits >= enough) return true;
  }
  return index > first && hasLongExponent(bytes, index, to);
}

function hasLongExponent(bytes: Uint8Array, at: number, to: number): boolean {
  if (bytes[at] !== smallE && bytes[at] !== capitalE) return false;
  const from = isDigit(bytes[at + 1]!) ? at + 1 : at + 2;
  return (
    from + longExponentMin <= to && bytes.subarray(from, from + longExponentMin).every(isDigit)
  );
}

/** True if all digits before the exponent are zero. */
function isZero(bytes: Uint8Array, from: number, to: number): boolean {
  let index = from;
  while (index < to && (bytes[index] === zero || bytes[index] === dot)) index += 1;
  return index > from && (index === to || !isDigit(bytes[index]!));
}

const isDigit = (code: number): boolean => code >= zero && code <= nine;

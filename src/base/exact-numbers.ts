/**
 * Numbers that a double cannot hold, such as an id of nineteen digits, or that JSON does not write back, `-0`. A value parsed from a text
 * with such numbers gets a twin, which writes them as they were read. Only code that forwards JSON within another body uses the twin:
 * arguments, results, schemas.
 */
import { randomBytes } from "node:crypto";
import { allLong, exactMin } from "./long-numbers.ts";

/** A number as it was read, which JSON writes unchanged; only `JSON.stringify` may see it. */
interface RawNumber {
  readonly rawJSON: string;
}

/** Declared here, because the compiler's types do not have it yet. */
const json = JSON as unknown as {
  rawJSON: (text: string) => RawNumber;
  isRawJSON: (value: unknown) => value is RawNumber;
};

/** True if a value is a number as it was read, and no object. */
export const isRawNumber = (value: unknown): boolean => json.isRawJSON(value);

/** Begins the strings that stand for numbers during parsing. It is random, so that no caller can have written it. */
const mark = randomBytes(12).toString("hex");

/** Each takes a hundred times as long as another number: this many take a tenth of a second, which blocks all other calls. */
export const longNumbersMax = 50_000;

/** The time for one also grows with its characters: this many in all take a tenth of a second too. */
export const longCharactersMax = 2_000_000;

/** A text has more long numbers, or longer ones, than are read exactly. */
export class LongNumbersError extends RangeError {
  override name = "LongNumbersError";
}

/**
 * Parses a valid text and keeps its long numbers exactly. Each is replaced by a string before parsing, and restored after it. A reviver
 * would be called for every value, which takes thirty times as long as parsing. @throws SyntaxError as JSON.parse; LongNumbersError
 */
export function parseExactly(text: string): unknown {
  let isMarked = false;
  let count = 0;
  let characters = 0;
  const marked = (number: string): string | undefined => {
    count += 1;
    characters += number.length;
    if (count > longNumbersMax || characters > longCharactersMax)
      throw new LongNumbersError("too many long numbers");
    if (decimal(number) === decimal(String(Number(number)))) return undefined;
    isMarked = true;
    return `"${mark}${number}"`;
  };
  const value: unknown = JSON.parse(outsideTexts(text, (part) => exchangeNumbers(part, marked)));
  if (isMarked && typeof value === "object" && value !== null) restoreNumbers(value);
  return value;
}

/** Returns the part, which has no strings, with each long number replaced by `exchanged` (undefined: unchanged). */
function exchangeNumbers(part: string, exchanged: (number: string) => string | undefined): string {
  let changed = "";
  let copied = 0;
  allLong.lastIndex = 0;
  // A loop of single searches: `replace` with a function takes ten times as long.
  for (let match = allLong.exec(part); match; match = allLong.exec(part)) {
    const number = match[1]!;
    const text = exchanged(number);
    if (text === undefined) continue;
    const to = allLong.lastIndex;
    changed += part.slice(copied, to - number.length) + text;
    copied = to;
  }
  return changed + part.slice(copied);
}

/** Applies `change` to the parts of a valid JSON text that are outside strings and names. */
function outsideTexts(text: string, change: (part: string) => string): string {
  const pieces: string[] = [];
  let copied = 0;
  for (let from = 0; from < text.length;) {
    const quote = text.indexOf('"', from);
    const to = quote === -1 ? text.length : quote;
    const part = to - from <= exactMin ? "" : text.slice(from, to);
    const changed = change(part);
    if (changed !== part) {
      pieces.push(text.slice(copied, from), changed);
      copied = to;
    }
    from = quote === -1 ? to : stringEnd(text, quote + 1) + 1;
  }
  return pieces.join("") + text.slice(copied);
}

/** Returns the position of the quote that closes the string whose first character is at `from`. */
export function stringEnd(text: string, from: number): number {
  let index = from;
  while (text[index] !== '"') index += text[index] === "\\" ? 2 : 1;
  return index;
}

/** Deeper values keep doubles: the writer of exact numbers is recursive. */
const depthMax = 1_000;

/** Replaces each string that begins with the mark by the number after it. @throws RangeError for a value that is nested too deeply */
function restoreNumbers(value: object, depth = 0): void {
  if (depth > depthMax) throw new RangeError("nested too deeply");
  const restored = (inner: unknown): unknown => {
    if (typeof inner === "string" && inner.startsWith(mark))
      return json.rawJSON(inner.slice(mark.length));
    if (typeof inner === "object" && inner !== null) restoreNumbers(inner, depth + 1);
    return inner;
  };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = restored(value[index]);
    return;
  }
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const now = restored(members[key]);
    if (now === members[key]) continue;
    if (key === "__proto__") Object.defineProperty(members, key, { value: now });
    else members[key] = now;
  }
}

/** Returns a number's digits and their power of ten, in one form for all spellings. */
function decimal(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text);
  if (!match) return text;
  const [, sign, whole, fraction = "", exponent = "0"] = match as unknown as string[];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  // A loop from the end: a regular expression for trailing zeros would restart at each zero before them.
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end -= 1;
  if (end === 0) return `${sign}0`;
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

const twins = new WeakMap<object, unknown>();

/** Records the exact twin of each object and list in `value` that has long numbers. Returns true if there is one. */
export function recordExactTwins(value: unknown, exact: unknown): boolean {
  if (isRawNumber(exact)) return true;
  if (typeof value !== "object" || value === null) return false;
  let differs = false;
  const note = (member: unknown, twin: unknown): void => {
    if (recordExactTwins(member, twin)) differs = true;
  };
  if (Array.isArray(value)) {
    const twins = exact as readonly unknown[];
    for (let index = 0; index < value.length; index += 1) note(value[index], twins[index]);
  } else {
    const members = value as Readonly<Record<string, unknown>>;
    const twin = exact as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(members)) note(members[key], twin[key]);
  }
  if (differs) twins.set(value, exact);
  return differs;
}

/**
 * Returns the twin of a parsed value, with its numbers as they were read: for writing, not for arithmetic. The same value if it has none.
 */
export function exactTwinOf<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  return (twins.get(value) as Value | undefined) ?? value;
}

/** Returns the JSON text of a parsed value, with its numbers as they were read. */
export const exactText = (value: unknown): string => JSON.stringify(exactTwinOf(value));

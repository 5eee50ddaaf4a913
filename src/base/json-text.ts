/**
 * Parses JSON text from outside, including member names. V8 up to 14.6 may confuse a name written with a backslash with a name from an
 * earlier text: after `{"a":1,"\\":1}` it reads `{"a":1,"\n":1}` as the first again. One caller's names would reach another caller's
 * request. So each such name is replaced by a plain one before V8 parses the object.
 */
import { randomBytes } from "node:crypto";
import {
  isRawNumber,
  LongNumbersError,
  recordExactTwins,
  parseExactly,
  stringEnd,
} from "./exact-numbers.ts";
import { mayHoldLongNumbers } from "./long-numbers.ts";

/**
 * Parses a JSON text. `exactTwinOf` then returns the value with its exact numbers that no double holds. If there are too many of them, only
 * doubles are kept, unless `tooMany` throws. @throws SyntaxError as JSON.parse
 */
export function parseJsonText(
  text: string,
  hasEscapedNames = mayEscapeNames(text),
  hasLongNumbers = mayHoldLongNumbers(text),
  tooMany?: () => never,
): unknown {
  const read = hasEscapedNames ? withNames(text) : (parse: Parse) => parse(text);
  const value = read(JSON.parse);
  if (hasLongNumbers) noteNumbers(value, read, tooMany);
  return value;
}

/** Returns the value of a JSON text; the text itself if it is not valid JSON. */
export function jsonOrText(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return text;
  }
}

type Parse = (text: string) => unknown;

function withNames(text: string): (parse: Parse) => unknown {
  // An error is then reported in terms of the original text.
  JSON.parse(text);
  const { plain, names } = exchangeNames(text);
  return (parse) => (names.size === 0 ? parse(plain) : restoreNames(parse(plain), names));
}

function noteNumbers(
  value: unknown,
  read: (parse: Parse) => unknown,
  tooMany: (() => never) | undefined,
): void {
  try {
    recordExactTwins(value, read(parseExactly));
  } catch (error) {
    if (error instanceof LongNumbersError) tooMany?.();
    // Nested too deeply for all but the parser: the numbers stay doubles.
  }
}

/** True if a name may be written with a backslash; never false if one is. */
export function mayEscapeNames(text: string): boolean {
  if (!text.includes("\\")) return false;
  for (const { index } of text.matchAll(/"\s*:/g)) {
    const from = text.lastIndexOf('"', index - 1);
    if (text[from - 1] === "\\" || holdsBackslash(text, from, index)) return true;
  }
  return false;
}

function holdsBackslash(text: string, from: number, to: number): boolean {
  for (let index = from; index < to; index += 1) if (text[index] === "\\") return true;
  return false;
}

/** Returns a valid JSON text with plain names in place of those with a backslash, and the original name for each. */
function exchangeNames(text: string): { plain: string; names: Map<string, string> } {
  // Random, so that no caller can have used it as a name.
  const mark = randomBytes(12).toString("hex");
  const names = new Map<string, string>();
  const pieces: string[] = [];
  let copied = 0;
  for (let from = text.indexOf('"'); from !== -1;) {
    const to = stringEnd(text, from + 1) + 1;
    if (isName(text, to) && holdsBackslash(text, from, to)) {
      const name = `${mark}-${names.size}`;
      // V8 reads a single string correctly.
      names.set(name, JSON.parse(text.slice(from, to)) as string);
      pieces.push(text.slice(copied, from), `"${name}"`);
      copied = to;
    }
    from = text.indexOf('"', to);
  }
  return { plain: pieces.join("") + text.slice(copied), names };
}

/** True if the string that ends before `to` is a member name: a colon follows. */
function isName(text: string, to: number): boolean {
  let index = to;
  while (" \t\n\r".includes(text.charAt(index)) && index < text.length) index += 1;
  return text[index] === ":";
}

function restoreNames(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => restoreNames(item, names));
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const members = Object.entries(value).map(
    ([name, member]) => [names.get(name) ?? name, restoreNames(member, names)] as const,
  );
  // Each becomes an own member, `__proto__` too; the last of two equal names counts.
  return Object.fromEntries(members);
}

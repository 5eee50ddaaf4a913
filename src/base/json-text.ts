/**
 * Parsing JSON text from outside, names of members included. V8 up to 14.6 may take a name that is spelled with a backslash for another
 * one that stood in its place in an earlier text: after `{"a":1,"\\":1}` it reads `{"a":1,"\n":1}` as the first again. One caller's
 * names would reach another's request. So no such name comes before V8 within an object: each is exchanged for a plain one first.
 */
import { randomBytes } from "node:crypto";
import {
  isRawNumber,
  LongNumbersError,
  noteExactly,
  parseExactly,
  stringEnd,
} from "./exact-numbers.ts";
import { mayHoldLongNumbers } from "./long-numbers.ts";

/**
 * Parses a JSON text. `exactly` tells what its numbers were that no double holds. Where they are too many they are what doubles
 * hold, unless `tooMany` throws. @throws SyntaxError as JSON.parse
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

/** What a text is as JSON; the text itself where it is none. */
export function jsonOrText(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return text;
  }
}

type Parse = (text: string) => unknown;

function withNames(text: string): (parse: Parse) => unknown {
  // What is wrong with it is reported in the words for the text as it is.
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
    noteExactly(value, read(parseExactly));
  } catch (error) {
    if (error instanceof LongNumbersError) tooMany?.();
    // Nested so deeply that only the parser can follow: its numbers are what doubles hold.
  }
}

/** Whether a name may be spelled with a backslash; never false where one is. */
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

/** A valid JSON text with plain names in place of those with a backslash, and which name each of them stands for. */
function exchangeNames(text: string): { plain: string; names: Map<string, string> } {
  // Nobody can have named a member so.
  const mark = randomBytes(12).toString("hex");
  const names = new Map<string, string>();
  const pieces: string[] = [];
  let copied = 0;
  for (let from = text.indexOf('"'); from !== -1;) {
    const to = stringEnd(text, from + 1) + 1;
    if (isName(text, to) && holdsBackslash(text, from, to)) {
      const name = `${mark}-${names.size}`;
      // A text by itself is read right.
      names.set(name, JSON.parse(text.slice(from, to)) as string);
      pieces.push(text.slice(copied, from), `"${name}"`);
      copied = to;
    }
    from = text.indexOf('"', to);
  }
  return { plain: pieces.join("") + text.slice(copied), names };
}

/** Whether the string that ends before `to` is the name of a member: a colon follows. */
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
  // Each becomes a member of its own, `__proto__` too; of two with one name the last one counts.
  return Object.fromEntries(members);
}

/** Finds the positions of values in a JSON text, for messages. It scans the text only after a mistake was found. */
import { getOrCreate } from "../../base/memoize.ts";

export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The offsets at which the lines of a text begin. */
const lineStartsOf = (text: string): readonly number[] => [
  0,
  ...text.matchAll(/\n/g).map(({ index }) => index + 1),
];

/** The line and column of an offset, both from 1. */
export function placeAt(text: string, offset: number, starts = lineStartsOf(text)): TextPlace {
  let line = 0;
  for (let end = starts.length; end - line > 1;) {
    const middle = (line + end) >> 1;
    if (starts[middle]! <= offset) line = middle;
    else end = middle;
  }
  return { line: line + 1, column: offset - starts[line]! + 1 };
}

/**
 * Returns a function that finds the value at a path, or its last existing ancestor. `text` must be JSON. Each object is scanned once,
 * because a list in another unit has thousands of mistakes in megabytes of text.
 */
export function placesIn(text: string): (path: readonly string[]) => TextPlace {
  const known = new Map<number, ReadonlyMap<string, number>>();
  const starts = lineStartsOf(text);
  return (path) => {
    let at = skipSpace(text, 0);
    for (const step of path) {
      const inside = getOrCreate(known, at, () => membersAt(text, at)).get(step);
      if (inside === undefined) break;
      at = inside;
    }
    return placeAt(text, at, starts);
  };
}

/** The offsets of an object's values by name, or of an array's by index. For duplicate names the last counts, as in JSON.parse. */
function membersAt(text: string, start: number): ReadonlyMap<string, number> {
  const members = new Map<string, number>();
  const opening = text[start];
  if (opening !== "{" && opening !== "[") return members;
  let at = skipSpace(text, start + 1);
  for (let index = 0; text[at] !== "}" && text[at] !== "]" && at < text.length; index += 1) {
    let key = String(index);
    if (opening === "{") {
      const end = valueEnd(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    members.set(key, at);
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return members;
}

const space = /\s*/y;
const scalar = /[^\s,\]}]*/y;
const quoted = /"(?:[^"\\]|\\.)*"/y;
const plain = /[^"[\]{}]*/y;

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return Math.max(at, pattern.lastIndex);
}

const skipSpace = (text: string, at: number): number => match(space, text, at);

/** The offset after the value that begins at `start`. */
function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return match(quoted, text, start);
  if (first !== "{" && first !== "[") return match(scalar, text, start);
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const letter = text[at];
    if (letter === '"') {
      at = match(quoted, text, at);
      continue;
    }
    if (letter === "{" || letter === "[") depth += 1;
    if (letter === "}" || letter === "]") depth -= 1;
    at += 1;
    if (depth === 0) return at;
    at = match(plain, text, at);
  }
  return at;
}

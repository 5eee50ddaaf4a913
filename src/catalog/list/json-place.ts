/** Finds the position of a value in a JSON text, for messages. It scans the text only after a mistake was found. */

export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The line and column of an offset, both from 1. */
export function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** The position of the value at a path, or of its last existing ancestor. `text` must be JSON. */
export function placeOf(text: string, path: readonly string[]): TextPlace {
  let at = skipSpace(text, 0);
  for (const step of path) {
    const inside = memberAt(text, at, step);
    if (inside === undefined) break;
    at = inside;
  }
  return placeAt(text, at);
}

/** The offset of a member's value, in an array by index. For duplicate names the last counts, as in JSON.parse. */
function memberAt(text: string, start: number, name: string): number | undefined {
  const opening = text[start];
  if (opening !== "{" && opening !== "[") return undefined;
  let found: number | undefined;
  let at = skipSpace(text, start + 1);
  for (let index = 0; text[at] !== "}" && text[at] !== "]" && at < text.length; index += 1) {
    let key = String(index);
    if (opening === "{") {
      const end = valueEnd(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (key === name) found = at;
    at = skipSpace(text, valueEnd(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
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

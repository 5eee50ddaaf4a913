/**
 * Writes JSON piece by piece. A text of megabytes takes a tenth of a second to escape, so it is cut into slices with pauses between them.
 * The output is the same as that of `JSON.stringify`.
 */

import { isRawNumber } from "./exact-numbers.ts";

/** The next part of the output: text, or ready UTF-8. */
export type JsonPart = string | Uint8Array;

/** A JSON text to be sent: whole, or as pieces of UTF-8 in order. */
export type JsonPieces = string | readonly Uint8Array[];

/** Characters that are escaped at once: about 10 ms if each of them needs it. */
const sliceLength = 1 << 20;
/** Milliseconds of writing before other work has its turn. */
const turnMs = 15;
/** The approximate length of a value that is no text, in characters. */
const valueLength = 8;

/** Short texts are joined up to this length. */
const joinedLength = 1 << 16;
/** How many levels look ahead as far as `sliceLength`. If all did, the work would grow with the depth of a value. */
const farLevels = 8;
/** How far the levels below look ahead. */
const nearLength = 128;
/** The names of objects that are too long to be written at once. To list half a million takes 0.2 s, and each level around looks ahead. */
type KnownNames = Map<object, readonly string[]>;

/** A list or object that is being written. `names`: those of an object's members. */
interface Level {
  readonly names: readonly string[] | undefined;
  readonly values: readonly unknown[];
  at: number;
}

/**
 * Yields the text of a JSON value in slices. Leaves out undefined members, as `JSON.stringify` does. One generator writes all levels: with one
 * for each, every slice would pass through all of those around it.
 */
export function* jsonSlices(value: unknown): Generator<string> {
  const levels: Level[] = [];
  const known: KnownNames = new Map();
  let text = "";
  let item = value;
  for (;;) {
    if (isWritable(item, levels.length, known)) text += JSON.stringify(item);
    else if (typeof item === "string") {
      if (text !== "") yield text;
      text = "";
      yield* textSlices(item);
    } else {
      text += Array.isArray(item) ? "[" : "{";
      levels.push(levelOf(item as object, known));
    }
    if (text.length >= joinedLength) {
      yield text;
      text = "";
    }
    let level = levels.at(-1);
    for (; level !== undefined && level.at === level.values.length; level = levels.at(-1)) {
      text += level.names ? "}" : "]";
      levels.pop();
    }
    if (level === undefined) break;
    const { names, values, at } = level;
    text += `${at > 0 ? "," : ""}${names ? `${JSON.stringify(names[at])}:` : ""}`;
    item = values[at];
    level.at += 1;
  }
  if (text !== "") yield text;
}

/** True if a value is to be written at once. A number as it was read looks like an object. */
function isWritable(value: unknown, depth: number, known: KnownNames): boolean {
  if (typeof value !== "object" || value === null || isRawNumber(value))
    return typeof value !== "string" || value.length <= sliceLength;
  return lengthLeft(value, depth < farLevels ? sliceLength : nearLength, known) >= 0;
}

function levelOf(value: object, known: KnownNames): Level {
  if (Array.isArray(value)) return { names: undefined, values: value, at: 0 };
  const members = value as Members;
  const names = (known.get(value) ?? Object.keys(value)).filter(
    (name) => members[name] !== undefined,
  );
  // Nothing looks ahead over it again.
  known.delete(value);
  return { names, values: names.map((name) => members[name]), at: 0 };
}

/** Returns the text of a JSON value of at most `most` characters; undefined for a longer one, which is written little further than that. */
export function jsonWithin(value: unknown, most: number): string | undefined {
  let text = "";
  for (const slice of jsonSlices(value)) {
    text += slice;
    if (text.length > most) return undefined;
  }
  return text;
}

function* textSlices(text: string): Generator<string> {
  yield '"';
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + sliceLength, text.length);
    // Half of a surrogate pair would be escaped.
    if (isHighSurrogate(text.charCodeAt(to - 1)) && to < text.length) to += 1;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** Returns the part of `length` that the value leaves; below zero if it is longer. Looks at no more of it than it must. */
function lengthLeft(value: unknown, length: number, known: KnownNames): number {
  if (typeof value === "string") return length - value.length;
  let left = length - valueLength;
  if (typeof value !== "object" || value === null) return left;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1)
      left = lengthLeft(value[index], left, known);
    return left;
  }
  return lengthLeftOf(value as Members, left, known);
}

type Members = Readonly<Record<string, unknown>>;

function lengthLeftOf(members: Members, length: number, known: KnownNames): number {
  let left = length;
  const names = known.get(members);
  if (names !== undefined) {
    for (let at = 0; at < names.length && left >= 0; at += 1)
      left = lengthLeft(members[names[at]!], left - names[at]!.length, known);
    return left;
  }
  for (const name in members) {
    left = lengthLeft(members[name], left - name.length, known);
    if (left >= 0) continue;
    known.set(members, Object.keys(members));
    break;
  }
  return left;
}

/** Writes all parts at once. */
export function writeParts(parts: Iterable<JsonPart>): JsonPieces {
  const pieces = new PieceWriter();
  for (const part of parts) pieces.add(part);
  return pieces.end();
}

/** As `writeParts`, with pauses: `turn` resolves after other work had its turn. */
export async function writePartsInTurns(
  parts: Iterable<JsonPart>,
  turn: () => Promise<void> | undefined,
): Promise<JsonPieces> {
  const pieces = new PieceWriter();
  let begunMs = performance.now();
  for (const part of parts) {
    pieces.add(part);
    if (performance.now() - begunMs < turnMs) continue;
    await turn();
    begunMs = performance.now();
  }
  return pieces.end();
}

/** Joins adjacent texts into one piece, up to a length. If all parts are text, the result is text. */
class PieceWriter {
  readonly #pieces: Uint8Array[] = [];
  #text = "";

  add(part: JsonPart): void {
    if (typeof part === "string") {
      this.#text += part;
      if (this.#text.length >= sliceLength) this.#endText();
      return;
    }
    this.#endText();
    this.#pieces.push(part);
  }

  end(): JsonPieces {
    if (this.#pieces.length === 0) return this.#text;
    this.#endText();
    return this.#pieces;
  }

  #endText(): void {
    if (this.#text !== "") this.#pieces.push(Buffer.from(this.#text));
    this.#text = "";
  }
}

/**
 * One pass over the bytes of a JSON text before it is parsed: how large it is for the parser and everything after it, whether
 * it keeps its bounds, and where the members of its object stand. It need not be valid JSON: the parser says so later.
 */
import { exactMin, isLongNumber } from "./long-numbers.ts";

/** What a body may hold at most: parsing, checking and converting it takes time and memory for each of these. */
export interface JsonBounds {
  /** Objects and lists within each other. */
  readonly depth: number;
  /** Values of all kinds, numbers in lists too. */
  readonly values: number;
  /** Objects, lists, texts and names of members. They cost far more than numbers. */
  readonly parts: number;
  /** Of one object. */
  readonly members: number;
}

/** A thousand rounds of an agent with tools have some 30,000 parts; lists of tokens have many numbers. */
export const jsonBounds: JsonBounds = {
  depth: 200,
  values: 500_000,
  parts: 80_000,
  members: 10_000,
};

/** What a scan found. All but the first mean something only where the text turns out to be valid JSON. */
export interface JsonShape {
  /** About the bytes that its values take in memory, beside the characters of its texts. */
  readonly memoryBytes: number;
  /** Its values, where an empty object or list counts as two. Members that are named twice count twice. */
  readonly values: number;
  /** Whether a name of a member, on any level, is spelled with a backslash. */
  readonly hasEscapedNames: boolean;
  /** Whether there may be numbers of more digits than a double holds, or a zero with a sign. */
  readonly hasLongNumbers: boolean;
  /** Positions of the outermost brackets, and of the commas directly within them. */
  readonly separators: readonly number[];
}

const space = 32;
const quote = 34;
const comma = 44;
const colon = 58;
const backslash = 92;
const openBrace = 123;
const closeBrace = 125;
const openBracket = 91;
const closeBracket = 93;

/** About what a value takes in a list, and what an object, a list, a text or a member's name takes besides. */
const valueBytes = 16;
const partBytes = 64;

/** Scans the UTF-8 bytes of a JSON text, or tells which bound it breaks. */
export function scanJson(bytes: Uint8Array, bounds: JsonBounds = jsonBounds): JsonShape | string {
  const scan = new JsonScan(bytes, bounds);
  scan.advance(bytes.length);
  return scan.found;
}

/** A scan that goes on from where it stopped: of many megabytes a part at a time. */
export class JsonScan {
  readonly #bytes: Buffer;
  readonly #counts: Counts;
  #index = 0;
  /** Where the last string begins, and whether it has not ended yet. */
  #stringFrom = 0;
  #inString = false;
  /** Where a value may begin that is no string. */
  #valueFrom = 0;

  constructor(bytes: Uint8Array, bounds: JsonBounds = jsonBounds) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#counts = new Counts(bounds);
  }

  /** Goes on by about so many bytes. True when all was seen, or a bound is broken. */
  advance(count: number): boolean {
    const { length } = this.#bytes;
    const to = Math.min(this.#index + count, length);
    while (this.#index < to && this.#counts.broken === undefined)
      this.#scan(Math.min(this.#index + textBytes, to));
    return this.#index >= length || this.#counts.broken !== undefined;
  }

  #scan(to: number): void {
    const bytes = this.#bytes;
    const counts = this.#counts;
    const part = { bytes, from: this.#index, to, text: bytes.toString("latin1", this.#index, to) };
    let index = this.#inString ? this.#endString(part, this.#index) : this.#index;
    for (; index < to && counts.broken === undefined; index += 1) {
      const code = bytes[index]!;
      if (code === quote) {
        counts.string();
        this.#stringFrom = index + 1;
        index = this.#endString(part, index + 1) - 1;
        this.#valueFrom = index;
      } else if (code === comma) {
        this.#endValue(index);
        counts.comma(index);
      } else if (code === colon) {
        counts.hasEscapedNames ||= holds(bytes, backslash, this.#stringFrom, index);
        // A text that is no JSON may have any number of colons behind one name: none of them reads it again.
        this.#stringFrom = index;
        this.#valueFrom = index;
      } else if (code === openBrace || code === openBracket) {
        this.#valueFrom = index;
        counts.open(index, code === openBrace);
      } else if (code === closeBrace || code === closeBracket) {
        this.#endValue(index);
        counts.close(index);
      }
    }
    this.#index = index;
  }

  /** A value ends before `at`: one of so many bytes may be a long number, or nothing but blanks. */
  #endValue(at: number): void {
    const from = this.#valueFrom;
    this.#valueFrom = at;
    if (at - from <= exactMin || this.#counts.hasLongNumbers) return;
    let first = from + 1;
    while (first < at && this.#bytes[first]! <= space) first += 1;
    this.#counts.hasLongNumbers = isLongNumber(this.#bytes, first, at);
  }

  /** What a whole scan found, or the bound that is broken. */
  get found(): JsonShape | string {
    return this.#counts.broken ?? this.#counts.shape();
  }

  /** Where to go on after a string, or within it where it does not end in the part. */
  #endString(part: Part, from: number): number {
    const index = stringEnd(part, from);
    this.#inString = index >= part.to;
    return this.#inString ? index : index + 1;
  }
}

/** So much is text at once: longer texts cost more to make than they save. */
const textBytes = 32 * 1024;

/** What is scanned at once: bytes from `from` to `to`, and each of them as a character. */
interface Part {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** What was counted so far. */
class Counts {
  readonly #bounds: JsonBounds;
  /** Members of each object that is open, by its depth; a list's never count. */
  readonly #members: number[] = [0];
  readonly #separators: number[] = [];
  #depth = 0;
  #parts = 0;
  #values = 1;
  hasEscapedNames = false;
  hasLongNumbers = false;
  /** The first bound that was broken. */
  broken: string | undefined = undefined;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  string(): void {
    this.#countPart();
  }

  comma(at: number): void {
    if (this.#depth === 1) this.#separators.push(at);
    this.#members[this.#depth]! += 1;
    const { members } = this.#bounds;
    if (this.#members[this.#depth]! >= members)
      this.broken = `An object of the body has more than ${members} members.`;
    else this.#countValue();
  }

  open(at: number, isObject: boolean): void {
    this.#depth += 1;
    const { depth } = this.#bounds;
    if (this.#depth === 1) this.#separators.push(at);
    this.#members[this.#depth] = isObject ? 0 : -Infinity;
    this.#countPart();
    this.#countValue();
    if (this.#depth > depth) this.broken = `The body is nested deeper than ${depth} levels.`;
  }

  close(at: number): void {
    if (this.#depth === 1) this.#separators.push(at);
    // One too many is no JSON, which the parser says.
    if (this.#depth > 0) this.#depth -= 1;
  }

  shape(): JsonShape {
    return {
      memoryBytes: this.#values * valueBytes + this.#parts * partBytes,
      values: this.#values,
      hasEscapedNames: this.hasEscapedNames,
      hasLongNumbers: this.hasLongNumbers,
      separators: this.#separators,
    };
  }

  #countPart(): void {
    this.#parts += 1;
    const { parts } = this.#bounds;
    if (this.#parts > parts)
      this.broken = `The body has more than ${parts} objects, lists and texts, names of members included.`;
  }

  #countValue(): void {
    this.#values += 1;
    const { values } = this.#bounds;
    if (this.#values > values) this.broken = `The body has more than ${values} values.`;
  }
}

function holds(bytes: Uint8Array, byte: number, from: number, to: number): boolean {
  for (let index = from; index < to; index += 1) if (bytes[index] === byte) return true;
  return false;
}

/** After a quote that was escaped others may be near: so many bytes are read one by one. Any other stretch is searched natively. */
const readBytes = 16;

/**
 * Position of the quote that closes the string whose next character begins at `from`. Where none does in the part: where another
 * character begins behind it.
 */
function stringEnd({ bytes, from: offset, to, text }: Part, from: number): number {
  let index = from;
  while (index < to) {
    const found = text.indexOf('"', index - offset);
    const at = found === -1 ? to : found + offset;
    if (!isEscaped(bytes, index, at)) return at;
    index = at + 1;
    for (const readTo = Math.min(index + readBytes, to); index < readTo;) {
      const code = bytes[index];
      if (code === quote) return index;
      index += code === backslash ? 2 : 1;
    }
  }
  return index;
}

/** Whether the character at `at` is escaped, where one of its string's characters begins at `from`. */
function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let first = at;
  while (first > from && bytes[first - 1] === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

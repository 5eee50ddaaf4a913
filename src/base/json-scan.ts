/**
 * One pass over the bytes of a JSON text before parsing: measures its cost for the parser and later steps, checks its bounds, and finds the
 * members of its object. The text need not be valid JSON: the parser reports that later.
 */
import { exactMin, isLongNumber } from "./long-numbers.ts";

/** The most that a body may hold: parsing, checking and converting each of these takes time and memory. */
export interface JsonBounds {
  /** Levels of nested objects and lists. */
  readonly depth: number;
  /** Values of all kinds, numbers in lists too. */
  readonly values: number;
  /** Objects, lists, texts and member names. They cost far more than numbers. */
  readonly parts: number;
  /** Members of one object. */
  readonly members: number;
}

/** A thousand rounds of an agent with tools have some 30,000 parts; lists of tokens have many numbers. */
export const jsonBounds: JsonBounds = {
  depth: 200,
  values: 500_000,
  parts: 80_000,
  members: 10_000,
};

/** The result of a scan. All but the first are only meaningful if the text turns out to be valid JSON. */
export interface JsonShape {
  /** The approximate memory of its values in bytes, without the characters of its texts. */
  readonly memoryBytes: number;
  /** The number of its values; an empty object or list counts as two. A repeated member counts each time. */
  readonly values: number;
  /** True if a member name on any level is written with a backslash. */
  readonly hasEscapedNames: boolean;
  /** True if there may be numbers with more digits than a double holds, or a zero with a sign. */
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

/** Approximate bytes of a value in a list, and the additional bytes of an object, a list, a text or a member name. */
const valueBytes = 16;
const partBytes = 64;

/** Scans the UTF-8 bytes of a JSON text; returns a message if it breaks a bound. */
export function scanJson(bytes: Uint8Array, bounds: JsonBounds = jsonBounds): JsonShape | string {
  const scan = new JsonScan(bytes, bounds);
  scan.advance(bytes.length);
  return scan.found;
}

/** A scan in steps, for texts of many megabytes. */
export class JsonScan {
  readonly #bytes: Buffer;
  readonly #counts: Counts;
  #index = 0;
  /** Start of the last string, and whether its end is still to come. */
  #stringFrom = 0;
  #inString = false;
  /** Where a value that is no string may begin. */
  #valueFrom = 0;

  constructor(bytes: Uint8Array, bounds: JsonBounds = jsonBounds) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#counts = new Counts(bounds);
  }

  /** Scans about `count` more bytes. Returns true at the end of the text, or if a bound is broken. */
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
        // Invalid JSON may have any number of colons after one name: do not read the name again for each.
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

  /** Checks the value that ends before `at`: with so many bytes it may be a long number, or only blanks. */
  #endValue(at: number): void {
    const from = this.#valueFrom;
    this.#valueFrom = at;
    if (at - from <= exactMin || this.#counts.hasLongNumbers) return;
    let first = from + 1;
    while (first < at && this.#bytes[first]! <= space) first += 1;
    this.#counts.hasLongNumbers = isLongNumber(this.#bytes, first, at);
  }

  /** The result of a whole scan, or the message of the bound that is broken. */
  get found(): JsonShape | string {
    return this.#counts.broken ?? this.#counts.shape();
  }

  /** Returns the position after a string, or within it if it does not end in this part. */
  #endString(part: Part, from: number): number {
    const index = stringEnd(part, from);
    this.#inString = index >= part.to;
    return this.#inString ? index : index + 1;
  }
}

/** Bytes that are converted to text at once: longer texts cost more to make than they save. */
const textBytes = 32 * 1024;

/** A part that is scanned at once: bytes from `from` to `to`, and the same as Latin-1 text. */
interface Part {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The counts so far. */
class Counts {
  readonly #bounds: JsonBounds;
  /** Members of each open object, by its depth; those of lists never count. */
  readonly #members: number[] = [0];
  readonly #separators: number[] = [];
  #depth = 0;
  #parts = 0;
  #values = 1;
  hasEscapedNames = false;
  hasLongNumbers = false;
  /** The message of the first bound that was broken. */
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
    // An extra bracket is invalid JSON, which the parser reports.
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

/** After an escaped quote others may be near: read this many bytes one by one. Any other stretch is searched natively. */
const readBytes = 16;

/**
 * Returns the position of the quote that closes the string whose next character begins at `from`. If there is none in the part, returns
 * where the next character after the part begins.
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

/** True if the character at `at` is escaped, if a character of its string begins at `from`. */
function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let first = at;
  while (first > from && bytes[first - 1] === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

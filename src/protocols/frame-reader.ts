/**
 * Parses the JSON frames of a stream. Most frames differ from the one before in a few values only, such as the text of a delta. The reader
 * learns the positions of these values once, and compares later frames instead of parsing them. The result equals that of a parse: all
 * bytes outside the values are the same, and each value is checked to be one string or number.
 */
import { exactTwinOf } from "../base/exact-numbers.ts";
import type { WireObject } from "../base/json.ts";
import { copiedMax, ownCopy } from "../base/text.ts";
import { parseObject } from "./read.ts";

/** The names of members whose values differ from frame to frame. */
export interface Varying {
  /** Members with strings. A frame without any of these is parsed. */
  readonly texts: readonly string[];
  /** Members with non-negative whole numbers. */
  readonly numbers: readonly string[];
}

/** A varying value: its position in the text and in the parsed object. */
interface Slot {
  readonly isText: boolean;
  /** The text before it, back to the previous slot or the start of the frame. */
  readonly before: string;
  readonly holder: WireObject;
  readonly key: string;
}

interface Shape {
  readonly object: WireObject;
  readonly slots: readonly Slot[];
  /** The text after the last slot. */
  readonly after: string;
}

/** Longer frames are parsed: learning them costs more than it saves. */
const learntCharactersMax = 2_048;
/** After failures, at least one in so many frames is learnt. */
const skippedMax = 64;
/** Number of digits that a number holds exactly. */
const digitsMax = 15;

/** Reads the frames of one stream. */
export class FrameReader {
  readonly #varying: Varying;
  #shape: Shape | undefined;
  /** The end of each slot in a frame; the array is reused. */
  readonly #ends: number[] = [];
  /** Frames to parse before the next attempt to learn, and the pause after a further failure. */
  #skip = 0;
  #skipped = 0;

  constructor(varying: Varying) {
    this.#varying = varying;
  }

  /** Returns the parsed frame, which is valid only until the next read: copy anything that is kept. Undefined if it is no JSON object. */
  read(text: string): WireObject | undefined {
    const known = this.#shape;
    if (known !== undefined && this.#fits(known, text)) {
      this.#skipped = 0;
      return this.#fill(known, text);
    }
    if (!this.#mayLearn(text)) return parseObject(text);
    const shape = learn(text, this.#varying);
    if (shape === undefined || !this.#fits(shape, text)) return parseObject(text);
    this.#shape = shape;
    return this.#fill(shape, text);
  }

  /** Doubles the pause between attempts, until a frame fits the learnt shape. */
  #mayLearn(text: string): boolean {
    if (text.length > learntCharactersMax) return false;
    this.#skip -= 1;
    if (this.#skip >= 0) return false;
    this.#skip = this.#skipped;
    this.#skipped = Math.min(2 * this.#skipped + 1, skippedMax);
    return true;
  }

  #fits({ slots, after }: Shape, text: string): boolean {
    let at = 0;
    for (let index = 0; index < slots.length; index += 1) {
      const { before, isText } = slots[index]!;
      const from = at + before.length;
      // Compared as a slice: `startsWith` takes ten times as long here.
      if (text.slice(at, from) !== before) return false;
      at = isText ? textEnd(text, from) : numberEnd(text, from);
      if (at === -1) return false;
      this.#ends[index] = at;
    }
    return text.slice(at) === after;
  }

  /** Returns the object of the shape, filled with the values of a frame that fits it. */
  #fill({ object, slots }: Shape, text: string): WireObject {
    let at = 0;
    for (let index = 0; index < slots.length; index += 1) {
      const { before, isText, holder, key } = slots[index]!;
      const end = this.#ends[index]!;
      const value = text.slice(at + before.length, end);
      holder[key] = isText ? textOf(value) : Number(value);
      at = end;
    }
    return object;
  }
}

/** The position of a named member's value in the text. */
interface Place {
  readonly isText: boolean;
  readonly from: number;
  readonly end: number;
}

/**
 * Learns the shape of later frames. To verify the positions, the frame is parsed with a unique number (a mark) at each one. A mark found as
 * a member's value proves that exactly one string or number spans that position.
 */
function learn(read: string, varying: Varying): Shape | undefined {
  const texts = varying.texts.flatMap((name) => placeOf(read, name, true) ?? []);
  if (texts.length === 0) return undefined;
  const numbers = varying.numbers.flatMap((name) => placeOf(read, name, false) ?? []);
  const places = [...texts, ...numbers].sort((a, b) => a.from - b.from);
  const text = ownCopy(read);
  let marked = "";
  let at = 0;
  const slots = places.map(({ isText, from, end }, index) => {
    const before = text.slice(at, from);
    marked += before + String(firstMark + index);
    at = end;
    return { isText, before, holder: nowhere, key: "" };
  });
  const after = text.slice(at);
  const object = parseObject(marked + after);
  // Exact forms of large numbers would not follow the values, so such frames are not learnt.
  if (
    object === undefined ||
    exactTwinOf(object) !== object ||
    findMarks(object, slots) !== slots.length
  )
    return undefined;
  return slots.some(({ holder }) => holder === nowhere) ? undefined : { object, slots, after };
}

/** Marks have the maximum number of digits, so that they are unlikely to occur in a frame. */
const firstMark = 718_281_828_459_045;
const nowhere: WireObject = {};

/** Returns the position of the only member with this name and kind of value; undefined if there is not exactly one. */
function placeOf(text: string, name: string, isText: boolean): Place | undefined {
  const key = `"${name}":`;
  const at = text.indexOf(key);
  if (at === -1 || text.includes(key, at + 1)) return undefined;
  let from = at + key.length;
  while (text.charCodeAt(from) === space) from += 1;
  if (isText && text.charCodeAt(from) !== quote) return undefined;
  if (isText) from += 1;
  const end = isText ? textEnd(text, from) : numberEnd(text, from);
  // A frame with an empty text begins a block: no later frame resembles it.
  return end === -1 || end === from ? undefined : { isText, from, end };
}

/** Stores in each slot the member that holds its mark. Returns the number of marks found. */
function findMarks(value: object, slots: { isText: boolean; holder: WireObject; key: string }[]) {
  let found = 0;
  for (const [key, inner] of Object.entries(value as WireObject)) {
    if (typeof inner === "object" && inner !== null) found += findMarks(inner, slots);
    else if (typeof inner === "string" || typeof inner === "number") {
      const slot = slots[Number(inner) - firstMark];
      if (slot?.isText !== (typeof inner === "string")) continue;
      slot.holder = value as WireObject;
      slot.key = key;
      found += 1;
    }
  }
  return found;
}

const space = 32;
const quote = 34;
const backslash = 92;
const letterU = 117;

/** Returns the position of the quote that ends the string beginning at `from`; -1 if the string is invalid. */
function textEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code < space) return -1;
    if (code !== backslash) continue;
    at += 1;
    const escaped = text.charCodeAt(at);
    if (escaped === letterU) {
      if (!/^[0-9a-f]{4}$/i.test(text.slice(at + 1, at + 5))) return -1;
      at += 4;
    } else if (!'"\\/bfnrt'.includes(text.charAt(at)) || at >= text.length) return -1;
  }
  return -1;
}

/** Returns the end of the whole number that begins at `from`; -1 if there is none, or it goes on as another kind of number. */
function numberEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) break;
  }
  const digits = at - from;
  if (digits === 0 || digits > digitsMax) return -1;
  if (digits > 1 && text.charCodeAt(from) === 48) return -1;
  // A tiny fraction could leave the parsed mark unchanged.
  return ".eE".includes(text.charAt(at)) ? -1 : at;
}

/** Parses the inside of a JSON string. */
const textOf = (inner: string): string =>
  inner.length <= copiedMax && !inner.includes("\\") ? inner : (JSON.parse(`"${inner}"`) as string);

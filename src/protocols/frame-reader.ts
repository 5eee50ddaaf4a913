/**
 * Reads the JSON of a stream's frames. Nearly all of them differ from the one before in a few values only, such as the text of a
 * delta: where such a value stands in the text is learnt once, and later frames are compared instead of parsed. What comes out is
 * what a parse would give, because everything outside those values is the same to the byte, and what stands in them is checked to
 * be a string or a number and nothing else.
 */
import { exactly } from "../base/exact-numbers.ts";
import type { WireObject } from "../base/json.ts";
import { parseObject } from "./read.ts";

/** The names of members whose values differ from frame to frame. */
export interface Varying {
  /** Of texts. A frame without any of these is parsed. */
  readonly texts: readonly string[];
  /** Of whole numbers that are not negative. */
  readonly numbers: readonly string[];
}

/** A value that varies, in the text and in the object that it was parsed to. */
interface Slot {
  readonly isText: boolean;
  /** What stands before it, back to the slot before or to the frame's start. */
  readonly before: string;
  readonly holder: WireObject;
  readonly key: string;
}

interface Shape {
  readonly object: WireObject;
  readonly slots: readonly Slot[];
  /** What stands behind the last slot. */
  readonly after: string;
}

/** Longer frames are parsed: to learn them costs more than it saves. */
const learntCharactersMax = 2_048;
/** Of so many frames that are not like the one learnt last, one is learnt, at least. */
const skippedMax = 64;
/** Digits that a number holds exactly. */
const digitsMax = 15;

/** For one stream. */
export class FrameReader {
  readonly #varying: Varying;
  #shape: Shape | undefined;
  /** Where each slot of a frame ends; kept to be used again. */
  readonly #ends: number[] = [];
  /** Frames to be parsed before one is learnt again, and before the next time after that. */
  #skip = 0;
  #skipped = 0;

  constructor(varying: Varying) {
    this.#varying = varying;
  }

  /** The object that a frame is, good until the next one is read: what is kept of it is copied. Undefined where it is none. */
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

  /** Twice as seldom each time, until a frame is like the one that was learnt. */
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

  /** The object of the shape, with the values of a frame that fits it. */
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

/** A place of the text where the value of a named member stands. */
interface Place {
  readonly isText: boolean;
  readonly from: number;
  readonly end: number;
}

/**
 * What later frames may differ in. Where the values stand is proved by parsing the frame with a mark in each place: the mark is
 * found as the value of a member, so there is one string, or one number, from the place's begin to its end, and nothing else.
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
  // What its numbers are exactly would not change with its texts.
  if (
    object === undefined ||
    exactly(object) !== object ||
    findMarks(object, slots) !== slots.length
  )
    return undefined;
  return slots.some(({ holder }) => holder === nowhere) ? undefined : { object, slots, after };
}

/** Marks are numbers of as many digits as a number may have, so that none is in a frame by chance. */
const firstMark = 718_281_828_459_045;
const nowhere: WireObject = {};

/** Where the one member of a name stands whose value is of the kind; undefined where it is not the only one. */
function placeOf(text: string, name: string, isText: boolean): Place | undefined {
  const key = `"${name}":`;
  const at = text.indexOf(key);
  if (at === -1 || text.includes(key, at + 1)) return undefined;
  let from = at + key.length;
  while (text.charCodeAt(from) === space) from += 1;
  if (isText && text.charCodeAt(from) !== quote) return undefined;
  if (isText) from += 1;
  const end = isText ? textEnd(text, from) : numberEnd(text, from);
  // Without text are frames that begin something: none is like them.
  return end === -1 || end === from ? undefined : { isText, from, end };
}

/** Notes in each slot whose value its mark is. How many marks there were. */
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

/** The position of the quote that ends the string which begins at `from`; -1 where it is not valid. */
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

/** The end of the whole number that begins at `from`; -1 where there is none, or what follows is part of another kind of number. */
function numberEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) break;
  }
  const digits = at - from;
  if (digits === 0 || digits > digitsMax) return -1;
  if (digits > 1 && text.charCodeAt(from) === 48) return -1;
  // A fraction may be so small that the mark before it reads the same without.
  return ".eE".includes(text.charAt(at)) ? -1 : at;
}

/** So many characters V8 copies; a longer slice keeps the text alive that it was cut out of. */
const copiedMax = 12;

/** What stands between a string's quotes, read. */
const textOf = (inner: string): string =>
  inner.length <= copiedMax && !inner.includes("\\") ? inner : (JSON.parse(`"${inner}"`) as string);

/** The same text on its own: a slice would keep the whole read alive. */
const ownCopy = (text: string): string => Buffer.from(text).toString();

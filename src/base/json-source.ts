/**
 * A JSON object together with the bytes it was read from: what of it goes on unchanged is sent in the caller's own bytes,
 * numbers and all, and is not written again.
 */
import { parseJson, type JsonText, type WireObject } from "./json.ts";
import type { JsonShape } from "./json-scan.ts";

/** A JSON text to be sent: whole, or as pieces of UTF-8 in their order. */
export type JsonPieces = string | readonly Uint8Array[];

export class JsonSource {
  readonly value: WireObject;
  readonly #bytes: Uint8Array;
  readonly #shape: JsonShape;
  #isPlain: boolean | undefined;

  /** @throws GatewayError as `parseJson` */
  constructor(json: JsonText) {
    this.value = parseJson(json);
    this.#bytes = json.bytes;
    this.#shape = json.shape;
  }

  /**
   * `changed` as JSON. A member whose value is the very one of `value` keeps its bytes; so nothing within a value may have been
   * changed in place. A text that could be read in two ways (a member named twice) is written anew: the upstream reads what was checked.
   */
  write(changed: WireObject): JsonPieces {
    this.#isPlain ??= isPlain(this.value, this.#shape);
    return this.#isPlain ? this.#patched(changed) : JSON.stringify(changed);
  }

  #patched(changed: WireObject): readonly Uint8Array[] {
    const { separators } = this.#shape;
    const pieces = new Pieces(this.#bytes);
    let index = 0;
    for (const name in this.value) {
      const value = this.value[name];
      if (Object.hasOwn(changed, name)) {
        if (changed[name] === value) pieces.keep(separators[index]! + 1, separators[index + 1]!);
        else pieces.add(name, changed[name]);
      }
      index += 1;
    }
    for (const name in changed)
      if (!Object.hasOwn(this.value, name)) pieces.add(name, changed[name]);
    return pieces.end();
  }
}

/**
 * Whether the members stand in the text as they do in the value, each once on every level. A member that is named twice is
 * counted twice in the text and once in the value; names like "7" move to the front of an object; and V8 (14.6) takes a name
 * with a backslash for another one that it knows.
 */
function isPlain(value: WireObject, { values, hasEscapedNames }: JsonShape): boolean {
  if (hasEscapedNames) return false;
  for (const first in value) return !/^\d/.test(first) && countValues(value) === values;
  return false;
}

/** The values of a JSON value, counted as in `JsonShape`. */
function countValues(value: object): number {
  let count = 1;
  if (Array.isArray(value)) {
    if (value.length === 0) return 2;
    for (let index = 0; index < value.length; index += 1) count += countAny(value[index]);
    return count;
  }
  for (const name in value) count += countAny((value as WireObject)[name]);
  return count === 1 ? 2 : count;
}

const countAny = (value: unknown): number =>
  typeof value === "object" && value !== null ? countValues(value) : 1;

/** Members one behind the other, those that are kept side by side in one piece. */
class Pieces {
  readonly #source: Uint8Array;
  readonly #pieces: Uint8Array[] = [];
  /** What is written anew, up to the next kept member. */
  #text = "{";
  #isFirst = true;
  /** The kept bytes that are not a piece yet. */
  #from = 0;
  #to = 0;

  constructor(source: Uint8Array) {
    this.#source = source;
  }

  /** A member as it stands in the source. */
  keep(from: number, to: number): void {
    // Behind the last one, with only the comma between them.
    if (this.#to > 0 && from === this.#to + 1) {
      this.#to = to;
      return;
    }
    this.#endKept();
    this.#separate();
    this.#endText();
    this.#from = from;
    this.#to = to;
  }

  /** A member that is written; one without a value is left out, as `JSON.stringify` does. */
  add(name: string, value: unknown): void {
    if (value === undefined) return;
    this.#endKept();
    this.#separate();
    this.#text += `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }

  end(): readonly Uint8Array[] {
    this.#endKept();
    this.#text += "}";
    this.#endText();
    return this.#pieces;
  }

  #separate(): void {
    if (!this.#isFirst) this.#text += ",";
    this.#isFirst = false;
  }

  #endKept(): void {
    if (this.#to > 0) this.#pieces.push(this.#source.subarray(this.#from, this.#to));
    this.#to = 0;
  }

  #endText(): void {
    if (this.#text !== "") this.#pieces.push(Buffer.from(this.#text));
    this.#text = "";
  }
}

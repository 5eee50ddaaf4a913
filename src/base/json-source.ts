/**
 * A JSON object together with the bytes it was read from. Unchanged members are sent in the caller's own bytes, numbers included, and not
 * written again.
 */
import { exactTwinOf } from "./exact-numbers.ts";
import { parseJson, readJson, type JsonText, type WireObject } from "./json.ts";
import type { JsonShape } from "./json-scan.ts";
import { jsonSlices, writeParts, type JsonPart, type JsonPieces } from "./json-write.ts";

/** The position of adjacent kept members. */
interface Run {
  readonly from: number;
  readonly to: number;
}

/** Up to this many bytes of ASCII are also kept as text, because text is cheaper to join and send than bytes. */
const textMax = 16 * 1024;

export class JsonSource {
  /** The bytes that were read; must not be changed. */
  readonly bytes: Uint8Array;
  #value: WireObject | undefined;
  /** The same in the form that is sent; positions are the same in both. */
  readonly #sent: Uint8Array | string;
  readonly #shape: JsonShape;
  #plain: boolean | undefined;

  /** @throws GatewayError as `parseJson` */
  constructor(json: JsonText) {
    const { bytes, text, shape } = json;
    this.#value = parseJson(json);
    this.bytes = bytes;
    // If there are as many characters as bytes, all are ASCII.
    this.#sent = bytes.length <= textMax && text.length === bytes.length ? text : bytes;
    this.#shape = shape;
  }

  /** The object in the bytes; parsed again after `discardDerived`. */
  get value(): WireObject {
    return (this.#value ??= parseJson(readJson(this.bytes, this.#shape)));
  }

  /** Frees the object, which takes several times the memory of its bytes. Objects made from it before must not be written any more. */
  discardDerived(): void {
    this.#value = undefined;
  }

  /**
   * Writes `changed` as JSON. A member whose value is identical to that in `value` keeps its bytes, so no value may have been changed in
   * place. An ambiguous text (a member named twice) is written anew: the upstream then reads what was checked, with the digits of the
   * caller's long numbers.
   */
  write(changed: WireObject): JsonPieces {
    return this.keepsBytes
      ? writeParts(this.#patched(changed))
      : JSON.stringify(this.#exact(changed));
  }

  /** As `write`, in parts that take milliseconds each. */
  parts(changed: WireObject): Iterable<JsonPart> {
    return this.keepsBytes ? this.#patched(changed) : jsonSlices(this.#exact(changed));
  }

  /** True if `write` keeps bytes, which it does not for an ambiguous text. */
  get keepsBytes(): boolean {
    return (this.#plain ??= isPlain(this.value, this.#shape));
  }

  /** Returns `changed`, with kept members as they were read, including numbers that no double holds. */
  #exact(changed: WireObject): WireObject {
    const { value } = this;
    const exact = exactTwinOf(value);
    if (exact === value) return changed;
    const members = Object.entries(changed).map(([name, member]): [string, unknown] => {
      const isKept = Object.hasOwn(value, name) && member === value[name];
      return [name, isKept ? exact[name] : member];
    });
    return Object.fromEntries(members);
  }

  *#patched(changed: WireObject): Generator<JsonPart> {
    let before = "{";
    for (const run of this.#runs(changed)) {
      if (typeof run === "string") {
        yield `${before}${JSON.stringify(run)}:`;
        yield* jsonSlices(changed[run]);
      } else {
        yield before;
        yield this.#part(run);
      }
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }

  #part({ from, to }: Run): JsonPart {
    return typeof this.#sent === "string"
      ? this.#sent.slice(from, to)
      : this.#sent.subarray(from, to);
  }

  /** Returns the parts of `changed`: runs of adjacent kept members, and the names of members to write. */
  #runs(changed: WireObject): (Run | string)[] {
    const runs: (Run | string)[] = [];
    const { value } = this;
    const { separators } = this.#shape;
    let from = 0;
    let to = 0;
    let index = 0;
    for (const name in value) {
      const start = separators[index]! + 1;
      const end = separators[++index]!;
      if (!Object.hasOwn(changed, name)) continue;
      const isKept = changed[name] === value[name];
      // It follows the last kept one, with only the comma between them.
      if (isKept && to > 0 && start === to + 1) {
        to = end;
        continue;
      }
      if (to > 0) runs.push({ from, to });
      from = start;
      to = isKept ? end : 0;
      if (!isKept && changed[name] !== undefined) runs.push(name);
    }
    if (to > 0) runs.push({ from, to });
    for (const name in changed)
      if (!Object.hasOwn(value, name) && changed[name] !== undefined) runs.push(name);
    return runs;
  }
}

/**
 * True if the text has the members in the same order as the value, each once on every level. A repeated member counts twice in the text and
 * once in the value. Names like "7" move to the front of an object. V8 (14.6) may take a name with a backslash for another known name.
 */
function isPlain(value: WireObject, { values, hasEscapedNames }: JsonShape): boolean {
  if (hasEscapedNames) return false;
  for (const first in value) return !/^\d/.test(first) && countValues(value) === values;
  return false;
}

/** Returns the number of values in a JSON value, counted as in `JsonShape`. */
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

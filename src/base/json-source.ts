/**
 * A JSON object together with the bytes it was read from: what of it goes on unchanged is sent in the caller's own bytes,
 * numbers and all, and is not written again.
 */
import { parseJson, type JsonText, type WireObject } from "./json.ts";
import type { JsonShape } from "./json-scan.ts";
import { jsonSlices, writeParts, type JsonPart } from "./json-write.ts";

/** A JSON text to be sent: whole, or as pieces of UTF-8 in their order. */
export type JsonPieces = string | readonly Uint8Array[];

export class JsonSource {
  readonly value: WireObject;
  readonly #bytes: Uint8Array;
  readonly #shape: JsonShape;
  #plain: boolean | undefined;

  /** @throws GatewayError as `parseJson` */
  constructor(json: JsonText) {
    this.value = parseJson(json);
    this.#bytes = json.bytes;
    this.#shape = json.shape;
  }

  /** What was read; not to be changed. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /**
   * `changed` as JSON. A member whose value is the very one of `value` keeps its bytes; so nothing within a value may have been
   * changed in place. A text that could be read in two ways (a member named twice) is written anew: the upstream reads what was checked.
   */
  write(changed: WireObject): JsonPieces {
    return this.#isPlain ? writeParts(this.#patched(changed)) : JSON.stringify(changed);
  }

  /** The same in parts, each of which is made within milliseconds. */
  parts(changed: WireObject): Iterable<JsonPart> {
    return this.#isPlain ? this.#patched(changed) : jsonSlices(changed);
  }

  get #isPlain(): boolean {
    return (this.#plain ??= isPlain(this.value, this.#shape));
  }

  *#patched(changed: WireObject): Generator<JsonPart> {
    let before = "{";
    for (const kept of this.#keptRuns(changed)) {
      if (kept instanceof Uint8Array) {
        yield before;
        yield kept;
      } else {
        yield `${before}${JSON.stringify(kept)}:`;
        yield* jsonSlices(changed[kept]);
      }
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }

  /** What `changed` consists of: bytes of members that stand side by side and are kept, and the names of members that are written. */
  *#keptRuns(changed: WireObject): Generator<Uint8Array | string> {
    const { separators } = this.#shape;
    let from = 0;
    let to = 0;
    let index = 0;
    for (const name in this.value) {
      const [start, end] = [separators[index]! + 1, separators[index + 1]!];
      index += 1;
      if (!Object.hasOwn(changed, name)) continue;
      const isKept = changed[name] === this.value[name];
      // Behind the last one, with only the comma between them.
      if (isKept && to > 0 && start === to + 1) {
        to = end;
        continue;
      }
      if (to > 0) yield this.#bytes.subarray(from, to);
      [from, to] = isKept ? [start, end] : [0, 0];
      if (!isKept && changed[name] !== undefined) yield name;
    }
    if (to > 0) yield this.#bytes.subarray(from, to);
    for (const name in changed)
      if (!Object.hasOwn(this.value, name) && changed[name] !== undefined) yield name;
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

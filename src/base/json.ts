/**
 * JSON from outside: valid UTF-8 only, bounded in depth, so that no later walk or stringify can overflow the stack, and in
 * the number of its values, so that none of them stops the process.
 */
import { GatewayError } from "./errors.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

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

/** A JSON object as it came off the wire. */
export type WireObject = Record<string, unknown>;

/** True for a JSON object; false for arrays, null and scalars. */
export function isObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How large a JSON text is for the parser and everything after it, beside its length. */
export interface JsonSize {
  /** About the bytes that its values take in memory, beside the characters of its texts. */
  readonly bytes: number;
}

/** A body that has been decoded and measured, and not parsed yet. */
export interface JsonText extends JsonSize {
  readonly text: string;
}

/**
 * Parses a request body that must be one JSON object.
 * @throws GatewayError `invalid_json` as `readJson` and `parseJson`
 */
export function parseJsonObject(bytes: Uint8Array): WireObject {
  return parseJson(readJson(bytes));
}

/**
 * Decodes and measures a body, at a small part of what parsing costs.
 * @throws GatewayError `invalid_json` for invalid UTF-8, nesting beyond 200 levels, or too many values.
 */
export function readJson(bytes: Uint8Array): JsonText {
  const text = decodeUtf8(bytes);
  const size = measureJson(text);
  if (typeof size !== "string") return { text, bytes: size.bytes };
  throw new GatewayError("invalid_json", size);
}

/** The one JSON object that a measured text is. @throws GatewayError `invalid_json` for invalid JSON, or another top-level type. */
export function parseJson({ text }: JsonText): WireObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : "";
    throw new GatewayError("invalid_json", `The body is not valid JSON: ${reason}`);
  }
  if (!isObject(value)) throw new GatewayError("invalid_json", "The body must be a JSON object.");
  return value;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new GatewayError("invalid_json", "The body is not valid UTF-8.");
  }
}

const quote = 34;
const backslash = 92;
const comma = 44;

/** About what a value takes in a list, and what an object, a list, a text or a member's name takes besides. */
const valueBytes = 16;
const partBytes = 64;

/**
 * Measures a JSON text without parsing it, or tells what bound it breaks. Texts are skipped by `indexOf`, so megabytes of
 * base64 cost nothing.
 */
export function measureJson(text: string, bounds: JsonBounds = jsonBounds): JsonSize | string {
  /** Members of each object that is open, by its depth; a list's never count. */
  const members = new Float64Array(bounds.depth + 1);
  let depth = 0;
  let parts = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === comma) {
      values += 1;
      members[depth]! += 1;
      if (members[depth]! >= bounds.members)
        return `An object of the body has more than ${bounds.members} members.`;
    } else if (code === quote) {
      parts += 1;
      index = stringEnd(text, index + 1);
    } else if (code === 123 || code === 91) {
      depth += 1;
      parts += 1;
      values += 1;
      if (depth > bounds.depth) return `The body is nested deeper than ${bounds.depth} levels.`;
      members[depth] = code === 123 ? 0 : -Infinity;
    } else if (code === 125 || code === 93) depth -= 1;
    else continue;
    if (parts > bounds.parts)
      return `The body has more than ${bounds.parts} objects, lists and texts, names of members included.`;
    if (values > bounds.values) return `The body has more than ${bounds.values} values.`;
  }
  return { bytes: values * valueBytes + parts * partBytes };
}

/** Position of the quote that closes the string whose first character is at `from`; the text's end when none does. */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  if (end === -1) return text.length;
  let backslashes = 0;
  while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1;
  if (backslashes % 2 === 0) return end;
  // An escaped quote: there may be millions more, and a search for each costs more than reading on.
  for (end += 1; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === quote) return end;
    if (code === backslash) end += 1;
  }
  return text.length;
}

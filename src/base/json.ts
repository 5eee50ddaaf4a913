/**
 * JSON from outside: only valid UTF-8, with bounds. The bound of the depth keeps later walks and stringify from a stack overflow; the bound
 * of the number of values keeps them from blocking the process.
 */
import { GatewayError } from "./errors.ts";
import { longCharactersMax, longNumbersMax } from "./exact-numbers.ts";
import { scanJson, type JsonShape } from "./json-scan.ts";
import { parseJsonText } from "./json-text.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** A JSON object as it came off the wire. */
export type WireObject = Record<string, unknown>;

/** True for a JSON object; false for arrays, null and scalars. */
export function isObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A body that has been decoded and scanned, but not parsed. */
export interface JsonText {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly shape: JsonShape;
}

/**
 * Parses a request body that must be one JSON object.
 * @throws GatewayError `invalid_json` as `readJson` and `parseJson`
 */
export function parseJsonObject(bytes: Uint8Array): WireObject {
  return parseJson(readJson(bytes));
}

/**
 * Decodes a scanned body; scan and decoding take about half as long as parsing. The scan comes first, because it stops at a broken bound,
 * however long the body is.
 * @throws GatewayError `invalid_json` for invalid UTF-8, nesting beyond 200 levels, or too many values.
 */
export function readJson(bytes: Uint8Array, found: JsonShape | string = scanJson(bytes)): JsonText {
  if (typeof found === "string") throw new GatewayError("invalid_json", found);
  return { bytes, text: decodeUtf8(bytes), shape: found };
}

/** Parses a scanned text as one JSON object. @throws GatewayError `invalid_json` for invalid JSON, or another top-level type. */
export function parseJson({ text, shape }: Pick<JsonText, "text" | "shape">): WireObject {
  let value: unknown;
  try {
    value = parseJsonText(text, shape.hasEscapedNames, shape.hasLongNumbers, tooManyLong);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (text.trim() === "")
      throw new GatewayError("invalid_json", "The body is empty: send a JSON object.");
    const reason = error instanceof Error ? error.message.slice(0, 200) : "";
    throw new GatewayError("invalid_json", `The body is not valid JSON: ${reason}`);
  }
  if (!isObject(value)) throw new GatewayError("invalid_json", "The body must be a JSON object.");
  return value;
}

const tooManyLong = (): never => {
  throw new GatewayError(
    "invalid_json",
    `The body has more than ${longNumbersMax} numbers of more digits than a double holds, or more than ${longCharactersMax} characters in them.`,
  );
};

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new GatewayError("invalid_json", "The body is not valid UTF-8.");
  }
}

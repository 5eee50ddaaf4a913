/**
 * JSON from outside: valid UTF-8 only, bounded in depth, so that no later walk or stringify can overflow the stack.
 */
import { GatewayError } from "./errors.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const depthMax = 200;

/** A JSON object as it came off the wire. */
export type WireObject = Record<string, unknown>;

/** True for a JSON object; false for arrays, null and scalars. */
export function isObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Parses a request body that must be one JSON object.
 * @throws GatewayError `invalid_json` for invalid UTF-8, invalid JSON, nesting beyond 200 levels, or another top-level type.
 */
export function parseJsonObject(bytes: Uint8Array): WireObject {
  const value = parseJson(decodeUtf8(bytes));
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

function parseJson(text: string): unknown {
  if (nestsDeeperThan(text, depthMax)) {
    throw new GatewayError("invalid_json", `The body is nested deeper than ${depthMax} levels.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : "";
    throw new GatewayError("invalid_json", `The body is not valid JSON: ${reason}`);
  }
}

const quote = 34;
const backslash = 92;

/** Whether brackets outside strings nest beyond `levels`. Strings are skipped by `indexOf`, so megabytes of base64 cost nothing. */
export function nestsDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      index = stringEnd(text, index + 1);
    } else if (code === 123 || code === 91) {
      depth += 1;
      if (depth > levels) return true;
    } else if (code === 125 || code === 93) depth -= 1;
  }
  return false;
}

/** Position of the quote that closes the string whose first character is at `from`; the text's end when none does. */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

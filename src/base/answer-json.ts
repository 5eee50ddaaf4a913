/**
 * Parses vendors' JSON answers within bounds, because a vendor may send anything. A text of empty objects takes the parser a second for
 * each ten megabytes, in which no other call is served, and twenty times its bytes in memory.
 */
import { scanJson, type JsonBounds } from "./json-scan.ts";
import { parseJsonText } from "./json-text.ts";

/** Embeddings are millions of numbers; no answer has as many objects and texts. */
export const answerBounds: JsonBounds = {
  depth: 1_000,
  values: 20_000_000,
  parts: 500_000,
  members: 100_000,
};

/** A shorter text cannot hold enough values to block the process, nor nest too deeply to be written again. */
const scannedMin = 1_000;

/** The text exceeds the bounds and was not parsed; it may be valid JSON or not. */
export class BeyondBoundsError extends Error {
  override name = "BeyondBoundsError";
}

/**
 * Parses a vendor's text within the bounds of an answer or a body. `bytes`: the same text as UTF-8, if the caller has it.
 * @throws SyntaxError as JSON.parse; BeyondBoundsError for more values or levels than the bounds allow
 */
export function parseAnswerText(
  text: string,
  { bytes, bounds = answerBounds }: { bytes?: Uint8Array; bounds?: JsonBounds } = {},
): unknown {
  if (text.length <= scannedMin) return parseJsonText(text);
  const shape = scanJson(bytes ?? Buffer.from(text), bounds);
  if (typeof shape === "string")
    throw new BeyondBoundsError("it has more values or levels than an answer may have");
  return parseJsonText(text, shape.hasEscapedNames, shape.hasLongNumbers);
}

/**
 * JSON that vendors answer with, bounded in what it is made of: a vendor may send anything, and a text of empty objects takes the
 * parser a second for each ten megabytes, in which nobody else is served, and twenty times its bytes.
 */
import { scanJson, type JsonBounds } from "./json-scan.ts";
import { parseJsonText } from "./json-text.ts";

/** Embeddings are millions of numbers; nothing has as many objects and texts. */
export const answerBounds: JsonBounds = {
  depth: 1_000,
  values: 20_000_000,
  parts: 500_000,
  members: 100_000,
};

/** A shorter text cannot hold so many values that it stops anybody, nor nest so deeply that it cannot be written again. */
const scannedMin = 1_000;

/** A text that is not parsed: it is JSON or not. */
export class BeyondBoundsError extends Error {
  override name = "BeyondBoundsError";
}

/**
 * Parses a text of a vendor, within the bounds of an answer or of a body. `bytes` are the same text where they are at hand.
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

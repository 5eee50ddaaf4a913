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

/** A shorter text cannot hold so many objects and texts: each takes two characters at least. */
const countedMin = 2 * answerBounds.parts;

/** A text that is not parsed: it is JSON or not. */
export class BeyondBoundsError extends Error {
  override name = "BeyondBoundsError";
}

/** Parses a text of a vendor. @throws SyntaxError as JSON.parse; BeyondBoundsError for more values than an answer may have */
export function parseAnswerText(text: string): unknown {
  const isBroken =
    text.length > countedMin && typeof scanJson(Buffer.from(text), answerBounds) === "string";
  if (isBroken) throw new BeyondBoundsError("it has more values or levels than an answer may have");
  return parseJsonText(text);
}

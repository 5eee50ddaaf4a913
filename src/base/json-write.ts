/**
 * JSON that is written piece by piece: a text of megabytes takes a tenth of a second to escape, which is cut into slices with
 * pauses between them. What comes out is what `JSON.stringify` writes.
 */

/** What is written next: text, or UTF-8 that is there already. */
export type JsonPart = string | Uint8Array;

/** A JSON text to be sent: whole, or as pieces of UTF-8 in their order. */
export type JsonPieces = string | readonly Uint8Array[];

/** Characters that are escaped at once: about 10 ms where each of them needs it. */
const sliceLength = 1 << 20;
/** How long is written before others have their turn. */
const turnMs = 15;
/** About what a value that is no text takes, in characters. */
const valueLength = 8;

/** The text of a JSON value, in slices. Members that are undefined are left out, as `JSON.stringify` does. */
export function* jsonSlices(value: unknown): Generator<string> {
  if (!isLong(value)) yield JSON.stringify(value);
  else if (typeof value === "string") yield* textSlices(value);
  else if (Array.isArray(value)) {
    let before = "[";
    for (const item of value) {
      yield before;
      yield* jsonSlices(item);
      before = ",";
    }
    yield "]";
  } else {
    let before = "{";
    for (const [name, member] of Object.entries(value as object)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonSlices(member);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  }
}

/** The text of a JSON value of at most `most` characters; undefined for a longer one, of which little more is written. */
export function jsonWithin(value: unknown, most: number): string | undefined {
  let text = "";
  for (const slice of jsonSlices(value)) {
    text += slice;
    if (text.length > most) return undefined;
  }
  return text;
}

function* textSlices(text: string): Generator<string> {
  yield '"';
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + sliceLength, text.length);
    // Half of a pair would be escaped.
    if (isHighSurrogate(text.charCodeAt(to - 1)) && to < text.length) to += 1;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** Whether a value is worth cutting. It looks at no more of it than that takes. */
const isLong = (value: unknown): boolean => lengthLeft(value, sliceLength) < 0;

/** What is left of a length when a value has taken its part; below zero where there was too little. */
function lengthLeft(value: unknown, length: number): number {
  if (typeof value === "string") return length - value.length;
  let left = length - valueLength;
  if (typeof value !== "object" || value === null) return left;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1)
      left = lengthLeft(value[index], left);
    return left;
  }
  for (const name in value) {
    left = lengthLeft((value as Record<string, unknown>)[name], left - name.length);
    if (left < 0) break;
  }
  return left;
}

/** Parts as what is sent, written at once. */
export function writeParts(parts: Iterable<JsonPart>): JsonPieces {
  const pieces = new PieceWriter();
  for (const part of parts) pieces.add(part);
  return pieces.end();
}

/** The same with pauses: `turn` resolves when the process has served others. */
export async function writePartsInTurns(
  parts: Iterable<JsonPart>,
  turn: () => Promise<void> | undefined,
): Promise<JsonPieces> {
  const pieces = new PieceWriter();
  let begunMs = performance.now();
  for (const part of parts) {
    pieces.add(part);
    if (performance.now() - begunMs < turnMs) continue;
    await turn();
    begunMs = performance.now();
  }
  return pieces.end();
}

/** Texts side by side become one piece, up to a length. Text alone stays text. */
class PieceWriter {
  readonly #pieces: Uint8Array[] = [];
  #text = "";

  add(part: JsonPart): void {
    if (typeof part === "string") {
      this.#text += part;
      if (this.#text.length >= sliceLength) this.#endText();
      return;
    }
    this.#endText();
    this.#pieces.push(part);
  }

  end(): JsonPieces {
    if (this.#pieces.length === 0) return this.#text;
    this.#endText();
    return this.#pieces;
  }

  #endText(): void {
    if (this.#text !== "") this.#pieces.push(Buffer.from(this.#text));
    this.#text = "";
  }
}

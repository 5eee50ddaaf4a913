/**
 * Keeps the length and the beginning of a stream's output text, for an estimate if usage is missing and for hooks. Bounded, whatever the
 * upstream sends.
 */

/** An estimate counts the tokens of at most so many characters, and scales the result to the rest. Each stream keeps as many. */
export const estimatedCharactersMax = 20_000;

/** Longer texts are charged as this length, if the vendor reports no usage. */
const charactersMax = 4 * 1024 * 1024;

/** A budget for more text than an estimate needs. */
export interface TextRoom {
  /** Maximum number of characters kept, including those for the estimate. */
  readonly charactersMax: number;
  /** Reserves bytes; false if there is no room. */
  take(bytes: number): boolean;
}

/** Room is requested in steps of this size, not for every token. */
const stepCharacters = 16_384;
/** Bytes that a character may take in memory. */
const characterBytes = 2;
const piecesMax = 256;

/** The text of one stream. */
export class TextLog {
  #text = "";
  /** Joined in batches: one string per token, kept during the stream, would cost ten times the text. */
  #pieces: string[] = [];
  #kept = 0;
  /** Number of characters that may be kept now. */
  #granted = estimatedCharactersMax;
  #room: TextRoom | undefined;
  /** Length of the whole text, up to `charactersMax`. */
  characters = 0;

  /** Keeps more of the text from now on. */
  keep(room: TextRoom): void {
    this.#room = room;
  }

  /** True if only the beginning is kept. */
  get isCut(): boolean {
    return this.#kept < this.characters;
  }

  add(piece: unknown): void {
    if (typeof piece !== "string" || piece === "") return;
    const wasCut = this.isCut;
    this.characters = Math.min(this.characters + piece.length, charactersMax);
    // Nothing after a gap is kept.
    if (wasCut) return;
    const room = this.#roomFor(piece.length);
    this.#kept += Math.min(room, piece.length);
    this.#pieces.push(room < piece.length ? copyOf(piece.slice(0, room)) : piece);
    if (this.#pieces.length >= piecesMax) this.#join();
  }

  read(): string {
    this.#join();
    return this.#text;
  }

  /** Returns the number of further characters, at most `characters`, that may be kept. */
  #roomFor(characters: number): number {
    const room = this.#room;
    const wanted = this.#kept + characters;
    if (wanted > this.#granted && room !== undefined) {
      const step = Math.max(wanted - this.#granted, stepCharacters);
      const more = Math.min(step, room.charactersMax - this.#granted);
      if (more > 0 && room.take(more * characterBytes)) this.#granted += more;
    }
    return Math.min(characters, this.#granted - this.#kept);
  }

  #join(): void {
    this.#text += this.#pieces.join("");
    this.#pieces = [];
  }
}

/** Copies a part of a string: a slice would keep the whole string in memory. */
const copyOf = (part: string): string => Buffer.from(part, "utf16le").toString("utf16le");

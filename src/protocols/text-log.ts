/**
 * The output text of a stream so far: how long it is, and its beginning, for an estimate where usage is missing and for those who
 * hear of the answer. Bounded, whatever the upstream sends.
 */

/** An estimate counts the tokens of so many characters, and takes the rest to be alike. So many are kept of each stream. */
export const estimatedCharactersMax = 20_000;

/** What is longer is charged as so much, where its vendor tells no usage. */
const charactersMax = 4 * 1024 * 1024;

/** Room for more of a text than an estimate needs. */
export interface TextRoom {
  /** No more is kept, with what an estimate needs. */
  readonly charactersMax: number;
  /** Takes room for bytes more; false where there is none. */
  take(bytes: number): boolean;
}

/** How a text is asked for room: not for every token. */
const stepCharacters = 16_384;
/** A character may take two bytes in memory. */
const characterBytes = 2;
const piecesMax = 256;

/** The text of one stream. */
export class TextLog {
  #text = "";
  /** Joined in batches: one string per token, kept for the length of a stream, would cost ten times its text. */
  #pieces: string[] = [];
  #kept = 0;
  /** How many characters it may keep now. */
  #granted = estimatedCharactersMax;
  #room: TextRoom | undefined;
  /** How long the whole text is, as far as it counts. */
  characters = 0;

  /** Keeps more of what comes from now on. */
  keep(room: TextRoom): void {
    this.#room = room;
  }

  /** Whether what is kept is only the beginning. */
  get isCut(): boolean {
    return this.#kept < this.characters;
  }

  add(piece: unknown): void {
    if (typeof piece !== "string" || piece === "") return;
    const wasCut = this.isCut;
    this.characters = Math.min(this.characters + piece.length, charactersMax);
    // What follows a gap is not kept.
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

  /** For how many of so many characters more there is room. */
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

/** A part of a string keeps all of it in memory; this one does not. */
const copyOf = (part: string): string => Buffer.from(part, "utf16le").toString("utf16le");

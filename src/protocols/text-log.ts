/** The output text of a stream so far, for an estimate where usage is missing. Bounded, whatever the upstream sends. */

const charactersMax = 4 * 1024 * 1024;
const piecesMax = 256;

export interface TextLog {
  add(piece: unknown): void;
  read(): string;
}

/** Pieces are joined in batches: one string per token, kept for the length of a stream, would cost ten times its text. */
export function createTextLog(): TextLog {
  let text = "";
  let pieces: string[] = [];
  let characters = 0;
  const join = (): void => {
    text += pieces.join("");
    pieces = [];
  };
  return {
    add(piece) {
      if (typeof piece !== "string" || piece === "" || characters >= charactersMax) return;
      const kept = piece.slice(0, charactersMax - characters);
      characters += kept.length;
      if (pieces.push(kept) >= piecesMax) join();
    },
    read() {
      join();
      return text;
    },
  };
}

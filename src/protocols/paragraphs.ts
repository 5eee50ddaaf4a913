/** Messages of one answer, for protocols that have them as one text: each is a paragraph of its own. CONV-701, CONV-704. */
import type { TextPart } from "./canonical/request.ts";
import { breakBetween } from "./content-parts.ts";

/** The texts of one answer, as they come. */
export class Paragraphs {
  /** The last character that was said. */
  #end = "";
  #isApart = false;

  /** Another text begins; `isApart`: it is a message of its own. */
  begin(isApart: boolean): void {
    this.#isApart = isApart;
  }

  /** What stands between the text so far and its next piece. */
  between(piece: string): string {
    const between = this.#isApart ? breakBetween(this.#end, piece) : "";
    this.#isApart = false;
    this.#end = piece.slice(-1);
    return between;
  }
}

/** A whole text, after what stands before it. */
export function inParagraph(paragraphs: Paragraphs, part: TextPart): string {
  paragraphs.begin(part.apart === true);
  return part.text === "" ? "" : paragraphs.between(part.text) + part.text;
}

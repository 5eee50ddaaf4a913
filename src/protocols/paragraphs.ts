/** Joins the messages of one answer for protocols that have only one text: each message becomes a paragraph. CONV-701, CONV-704. */
import type { TextPart } from "./canonical/request.ts";
import { breakBetween } from "./content-parts.ts";

/** The texts of one answer, in order of arrival. */
export class Paragraphs {
  /** The last character so far. */
  #end = "";
  #isApart = false;

  /** Begins another text; `isApart`: it is a separate message. */
  begin(isApart: boolean): void {
    this.#isApart = isApart;
  }

  /** Returns the break between the text so far and its next piece. */
  between(piece: string): string {
    const between = this.#isApart ? breakBetween(this.#end, piece) : "";
    this.#isApart = false;
    this.#end = piece.slice(-1);
    return between;
  }
}

/** Returns a whole text with the break before it. */
export function inParagraph(paragraphs: Paragraphs, part: TextPart): string {
  paragraphs.begin(part.apart === true);
  return part.text === "" ? "" : paragraphs.between(part.text) + part.text;
}

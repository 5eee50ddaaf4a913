/** Joins the messages of one answer for protocols that have only one text: each message becomes a paragraph. CONV-701, CONV-704. */
import type { TextPart } from "./canonical/request.ts";
import { breakBetween } from "./content-parts.ts";

/** The texts of one answer, in order of arrival. */
export class Paragraphs {
  /** The last character so far. */
  #end = "";
  #isNewMessage = false;

  /** Begins another text; `isNewMessage`: it is a separate message. */
  begin(isNewMessage: boolean): void {
    this.#isNewMessage = isNewMessage;
  }

  /** Returns the break between the text so far and its next piece. */
  between(piece: string): string {
    const between = this.#isNewMessage ? breakBetween(this.#end, piece) : "";
    this.#isNewMessage = false;
    this.#end = piece.slice(-1);
    return between;
  }
}

/** Returns a whole text with the break before it. */
export function inParagraph(paragraphs: Paragraphs, part: TextPart): string {
  paragraphs.begin(part.newMessage === true);
  return part.text === "" ? "" : paragraphs.between(part.text) + part.text;
}

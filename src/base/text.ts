/** Text that the database can keep: it has no U+0000, and no halves of surrogate pairs. */

/** A text of others as it can be kept: U+0000 left out, halves of characters replaced. */
export const storableText = (text: string): string => text.replaceAll("\0", "").toWellFormed();

/** The beginning of a text, of at most so many UTF-16 units; a character that is cut in two is replaced. */
export const shortText = (text: string, lengthMax: number): string =>
  text.slice(0, lengthMax).toWellFormed();

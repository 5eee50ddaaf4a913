/** Base64 in its strict form: one line, the standard alphabet, padding. Readers of bytes take every form, but readers of text only this one. */

/** Returns the same bytes in the strict form; the same text if it is plain already. */
export function plainBase64(text: string): string {
  // Looking for all other characters takes four times as long, which counts in large pictures.
  const isPlain = text.length % 4 === 0 && !/[-_\s]/.test(text);
  return isPlain ? text : Buffer.from(text, "base64").toString("base64");
}

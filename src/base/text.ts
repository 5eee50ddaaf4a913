/** Text of others: read from bytes, and made such that the database can keep it: without U+0000 and halves of surrogate pairs. */

/** UTF-8 as text, without the byte order mark that some servers put in front; what is no UTF-8 is replaced. */
export function textOf(bytes: Buffer): string {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString("utf8", hasMark ? 3 : 0);
}

/**
 * The text of a file that people write: UTF-8, or UTF-16 with its byte order mark, in which Windows PowerShell 5 writes what a command
 * prints into a file.
 */
export function fileText(bytes: Buffer): string {
  const [first, second] = bytes;
  const whole = bytes.subarray(2, bytes.length - (bytes.length % 2));
  if (first === 0xff && second === 0xfe) return whole.toString("utf16le");
  if (first === 0xfe && second === 0xff) return Buffer.from(whole).swap16().toString("utf16le");
  return textOf(bytes);
}

/** A text without its percent-encoding; as it is where that is broken. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text of others as it can be kept: U+0000 left out, halves of characters replaced. */
export const storableText = (text: string): string => text.replaceAll("\0", "").toWellFormed();

/** The beginning of a text, of at most so many UTF-16 units; a character that is cut in two is replaced. */
export const shortText = (text: string, lengthMax: number): string =>
  text.slice(0, lengthMax).toWellFormed();

/** No name of a model is longer: what a caller writes beyond it is neither kept nor said again. */
export const modelNameMax = 500;

/** Text from outside: decoded from bytes, and made storable in the database: without U+0000 and unpaired surrogates. */

/** Decodes UTF-8, without the byte order mark that some servers add; replaces invalid bytes. */
export function textOf(bytes: Buffer): string {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString("utf8", hasMark ? 3 : 0);
}

/**
 * Decodes a file written by a user: UTF-8, or UTF-16 with its byte order mark, which Windows PowerShell 5 writes when it redirects output.
 */
export function fileText(bytes: Buffer): string {
  const [first, second] = bytes;
  const whole = bytes.subarray(2, bytes.length - (bytes.length % 2));
  if (first === 0xff && second === 0xfe) return whole.toString("utf16le");
  if (first === 0xfe && second === 0xff) return Buffer.from(whole).swap16().toString("utf16le");
  return textOf(bytes);
}

/** Returns a text without its percent-encoding; unchanged if the encoding is invalid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns a text in storable form: without U+0000, and with unpaired surrogates replaced. */
export const storableText = (text: string): string => text.replaceAll("\0", "").toWellFormed();

/** Returns the beginning of a text, at most `lengthMax` UTF-16 units; replaces a character that is cut in two. */
export const shortText = (text: string, lengthMax: number): string =>
  text.slice(0, lengthMax).toWellFormed();

/** V8 copies slices up to this length; a longer slice keeps the whole source text in memory. */
export const copiedMax = 12;

/** Copies a well-formed text, so that it keeps no text in memory of which it is a slice. */
export const ownCopy = (text: string): string =>
  text.length <= copiedMax ? text : Buffer.from(text).toString();

/** The longest model name. A longer one from a caller is neither stored nor repeated. */
export const modelNameMax = 500;

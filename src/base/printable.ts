/**
 * Makes text from outside safe to print. A terminal obeys some characters (text can hide lines, overwrite them, and fill the clipboard),
 * and others change the writing direction. These are written as escapes. Names, models and messages can be any text.
 */

const terminalControls = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** Those that JSON does not escape. */
const notEscapedByJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns a text on one line. */
export const printableText = (text: string): string =>
  text.replace(terminalControls, (character) =>
    character === "\n" ? String.raw`\n` : escaped(character),
  );

/** Returns a text of several lines, which stay lines. */
export const printableLines = (text: string): string =>
  text.split("\n").map(printableText).join("\n");

/** Returns a JSON text, indented or not, with the same meaning. */
export const printableJson = (text: string): string => text.replace(notEscapedByJson, escaped);

/** Returns a JSON value with all its texts made printable. */
export function printableValue(value: unknown): unknown {
  if (typeof value === "string") return printableText(value);
  if (Array.isArray(value)) return value.map(printableValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [printableText(name), printableValue(inner)]),
  );
}

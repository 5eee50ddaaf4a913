/**
 * Makes text from outside safe to print. A terminal obeys some characters (text can hide lines, overwrite them, and fill the clipboard),
 * and others change the writing direction. These are written as escapes. Names, models and messages can be any text.
 */

const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** Those that JSON does not escape. */
const leftByJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const spelled = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns a text on one line. */
export const visibleText = (text: string): string =>
  text.replace(obeyed, (character) => (character === "\n" ? String.raw`\n` : spelled(character)));

/** Returns a text of several lines, which stay lines. */
export const visibleLines = (text: string): string => text.split("\n").map(visibleText).join("\n");

/** Returns a JSON text, indented or not, with the same meaning. */
export const visibleJson = (text: string): string => text.replace(leftByJson, spelled);

/** Returns a JSON value with all its texts made visible. */
export function visibleValue(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visibleValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [visibleText(name), visibleValue(inner)]),
  );
}

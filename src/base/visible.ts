/**
 * Text of others as it may be printed: a terminal obeys some characters (it can be made to hide lines, write them anew, and fill the
 * clipboard), and others turn the direction of writing. They are spelled out. Names, models and messages are anybody's text.
 */

const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** Those that JSON leaves as they are. */
const leftByJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const spelled = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** One line of text. */
export const visibleText = (text: string): string =>
  text.replace(obeyed, (character) => (character === "\n" ? String.raw`\n` : spelled(character)));

/** A text of several lines, which stay lines. */
export const visibleLines = (text: string): string => text.split("\n").map(visibleText).join("\n");

/** A JSON text, indented or not, of the same meaning. */
export const visibleJson = (text: string): string => text.replace(leftByJson, spelled);

/** A value as JSON has them, with all its texts. */
export function visibleValue(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visibleValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [visibleText(name), visibleValue(inner)]),
  );
}

/** Values as the text that json columns take. */

/** What json columns take: bigints as decimal strings, text without U+0000 and without halves of surrogate pairs. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "string") return value;
  return value.includes("\0")
    ? value.toWellFormed().replaceAll("\0", "\ufffd")
    : value.toWellFormed();
}

/** JSON text. The replacer is slow and rarely needed: only for bigints, U+0000 and halves of pairs. */
export function textOf(value: object): string {
  try {
    const text = JSON.stringify(value);
    if (!/\\u(?:0000|d[89a-f])/i.test(text)) return text;
  } catch {
    // A bigint, which the replacer writes.
  }
  return JSON.stringify(value, plain);
}

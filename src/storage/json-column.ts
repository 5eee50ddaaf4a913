/** Writes values as text for json columns. */

/** Replaces values that json columns refuse: bigints become decimal strings; text loses U+0000 and unpaired surrogates. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "string") return value;
  return value.includes("\0")
    ? value.toWellFormed().replaceAll("\0", "\ufffd")
    : value.toWellFormed();
}

/** Returns JSON text. The slow replacer runs only for bigints, U+0000 and unpaired surrogates. */
export function textOf(value: object): string {
  try {
    const text = JSON.stringify(value);
    if (!/\\u(?:0000|d[89a-f])/i.test(text)) return text;
  } catch {
    // A bigint: the replacer writes it.
  }
  return JSON.stringify(value, plain);
}

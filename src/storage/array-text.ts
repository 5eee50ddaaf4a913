/** Writes arrays in PostgreSQL's text form. The driver escapes each element by itself, which costs more than the rest of a batch. */

export const textArray = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(",")}}`;

/** Writes undefined as null too. */
export const numberArray = (items: readonly (bigint | number | null | undefined)[]): string =>
  `{${items.map((item) => item ?? "null").join(",")}}`;

/** Arrays in PostgreSQL's own text form: the driver escapes each element by itself, which costs more than the rest of a batch. */

export const textArray = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(",")}}`;

/** Null and undefined are null. */
export const numberArray = (items: readonly (bigint | number | null | undefined)[]): string =>
  `{${items.map((item) => item ?? "null").join(",")}}`;

/**
 * Arrays as parameters, in PostgreSQL's own text form: the driver escapes each element of an array by itself, which costs
 * more than the rest of a batch.
 */

/** An array of ids that need no escaping. */
export const texts = (items: readonly string[]): string =>
  items.length === 0 ? "{}" : `{"${items.join('","')}"}`;

/** An array of numbers, truth values or nulls. */
export const numbers = (items: readonly (bigint | number | boolean | null)[]): string =>
  `{${items.map((item) => (item === null ? "null" : item)).join(",")}}`;

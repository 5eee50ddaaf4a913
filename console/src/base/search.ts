/** The URL's query: plain `a=b&c=d`, lists by comma, defaults left out. Unknown parameters are dropped. */

/** Parses `?a=b` to an object. The last of several equal names counts. */
export function parseSearch(text: string): Record<string, string> {
  const fields = Object.fromEntries(new URLSearchParams(text));
  // These names are special on objects.
  for (const name of ["__proto__", "constructor"]) delete fields[name];
  return fields;
}

/** The inverse; undefined and empty values are left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const kept = Object.entries(search).flatMap(([name, value]) =>
    typeof value === "string" && value !== "" ? [[name, value]] : [],
  );
  const text = String(new URLSearchParams(kept)).replaceAll("%2C", ",").replaceAll("%2F", "/");
  return text === "" ? "" : `?${text}`;
}

/** The longest field of any page: a tag with its value, in characters that count as two. */
const lengthMax = 1_200;

/** Picks the named fields of a query; values that are too long are left out. */
export function pick<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { [Field in Name]?: string } {
  const fields = names.flatMap((name) => {
    const value = search[name];
    return typeof value === "string" && value !== "" && value.length <= lengthMax
      ? [[name, value]]
      : [];
  });
  return Object.fromEntries(fields) as { [Field in Name]?: string };
}

/** The allowed values of a field: a pattern, a list of words, or a test. */
type Shape = RegExp | readonly string[] | ((text: string) => boolean);

const isLike = (shape: Shape, text: string): boolean => {
  if (shape instanceof RegExp) return shape.test(text);
  return typeof shape === "function" ? shape(text) : shape.includes(text);
};

/**
 * Keeps fields with allowed values, and those without a shape. Other fields become undefined: if they were absent, the router would
 * restore the URL's value.
 */
export function fit<Fields extends Readonly<Record<string, string | undefined>>>(
  fields: Fields,
  shapes: { readonly [Name in keyof Fields]?: Shape },
): Fields {
  const kept = Object.entries(fields).map(([name, text]) => {
    const shape = shapes[name];
    const isFit = shape === undefined || (text !== undefined && isLike(shape, text));
    return [name, isFit ? text : undefined];
  });
  return Object.fromEntries(kept) as Fields;
}

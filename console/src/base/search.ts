/** The address: plain `a=b&c=d`, lists by comma, defaults left out. What it does not know it drops. */

/** `?a=b` as an object. Of a name that comes twice the last one counts. */
export function parseSearch(text: string): Record<string, string> {
  const fields = Object.fromEntries(new URLSearchParams(text));
  // These mean something else on objects.
  for (const name of ["__proto__", "constructor"]) delete fields[name];
  return fields;
}

/** The other way; what is undefined or empty is left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const kept = Object.entries(search).flatMap(([name, value]) =>
    typeof value === "string" && value !== "" ? [[name, value]] : [],
  );
  const text = String(new URLSearchParams(kept)).replaceAll("%2C", ",").replaceAll("%2F", "/");
  return text === "" ? "" : `?${text}`;
}

/** The longest field that any page reads: a tag with its value, in characters that count twice. */
const lengthMax = 1_200;

/** Takes the named fields of an address; longer ones are left out. */
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

/** What the values of a field may look like: a pattern, some words, or a test. */
type Shape = RegExp | readonly string[] | ((text: string) => boolean);

const isLike = (shape: Shape, text: string): boolean => {
  if (shape instanceof RegExp) return shape.test(text);
  return typeof shape === "function" ? shape(text) : shape.includes(text);
};

/**
 * The fields whose values are what they may be; those without a shape as they are. The others are there as undefined: where they were
 * absent, the router would put back what the address says.
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

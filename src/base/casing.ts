/**
 * Converts member names: `workspaceId` in the program is `workspace_id` in database columns, in the API and in the configuration file.
 * Renames only the members of the object itself, never deeper ones, where names may be a caller's.
 */

type CamelName<Name extends string> = Name extends `${infer Head}_${infer Letter}${infer Tail}`
  ? `${Head}${Uppercase<Letter>}${CamelName<Tail>}`
  : Name;

type SnakeName<Name extends string> = Name extends `${infer Letter}${infer Tail}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeName<Tail>}`
  : "";

/** `{ workspace_id }` as `{ workspaceId }`. */
export type CamelCased<Row> = { [Name in keyof Row as CamelName<Name & string>]: Row[Name] };

/** `{ workspaceId }` as `{ workspace_id }`: the row of a record, and its shape in JSON. */
export type SnakeCased<Value> = { [Name in keyof Value as SnakeName<Name & string>]: Value[Name] };

/** Caches the results: only our own names are passed, so there are some hundreds. */
function remembered(change: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    let changed = known.get(name);
    if (changed === undefined) known.set(name, (changed = change(name)));
    return changed;
  };
}

/** `credit_line_nano` as `creditLineNano`. For any name, also a caller's. */
export const inCamelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

const camelName = remembered(inCamelCase);

/** `creditLineNano` as `credit_line_nano`. For any name, also a caller's. */
export const inSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `creditLineNano` as `credit_line_nano`. Only for our own names, because each is cached. */
export const snakeName = remembered(inSnakeCase);

function renamed(value: object, name: (name: string) => string): object {
  const result: Record<string, unknown> = {};
  for (const [own, member] of Object.entries(value)) result[name(own)] = member;
  return result;
}

/** Converts a row or a JSON object to the program's names. */
export const camelCased = <Row extends object>(row: Row): CamelCased<Row> =>
  renamed(row, camelName) as CamelCased<Row>;

/** Converts an object with the program's names to a row or a JSON object. */
export const snakeCased = <Value extends object>(value: Value): SnakeCased<Value> =>
  renamed(value, snakeName) as SnakeCased<Value>;

type OnWire<Value> = Value extends Date ? string : Value;

/** Converts an object to its form in the API: as `snakeCased`, with times in ISO 8601. */
export function wireCased<Value extends object>(
  value: Value,
): { [Name in keyof SnakeCased<Value>]: OnWire<SnakeCased<Value>[Name]> } {
  const result: Record<string, unknown> = {};
  for (const [own, member] of Object.entries(value))
    result[snakeName(own)] = member instanceof Date ? member.toISOString() : member;
  return result as { [Name in keyof SnakeCased<Value>]: OnWire<SnakeCased<Value>[Name]> };
}

/**
 * Names in the program and names outside: what is `workspaceId` here is `workspace_id` in a column of the database, in the
 * API and in the configuration file. Only the members of the object itself are renamed, never what is inside them, where
 * names may be a caller's.
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

/** Only our own names come here, so there are some hundreds of them. */
function remembered(change: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    let changed = known.get(name);
    if (changed === undefined) known.set(name, (changed = change(name)));
    return changed;
  };
}

/** `credit_line_nano` as `creditLineNano`, of any name, a caller's too. */
export const inCamelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

const camelName = remembered(inCamelCase);

/** `creditLineNano` as `credit_line_nano`, of any name, a caller's too. */
export const inSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `creditLineNano` as `credit_line_nano`. Of our own names only, because each is kept. */
export const snakeName = remembered(inSnakeCase);

function renamed(value: object, name: (name: string) => string): object {
  const result: Record<string, unknown> = {};
  for (const [own, member] of Object.entries(value)) result[name(own)] = member;
  return result;
}

/** A row, or an object of JSON, as the program's own. */
export const camelCased = <Row extends object>(row: Row): CamelCased<Row> =>
  renamed(row, camelName) as CamelCased<Row>;

/** The program's own as a row or an object of JSON. */
export const snakeCased = <Value extends object>(value: Value): SnakeCased<Value> =>
  renamed(value, snakeName) as SnakeCased<Value>;

type OnWire<Value> = Value extends Date ? string : Value;

/** The program's own as the API shows it: as `snakeCased`, and times in ISO 8601. */
export function wireCased<Value extends object>(
  value: Value,
): { [Name in keyof SnakeCased<Value>]: OnWire<SnakeCased<Value>[Name]> } {
  const result: Record<string, unknown> = {};
  for (const [own, member] of Object.entries(value))
    result[snakeName(own)] = member instanceof Date ? member.toISOString() : member;
  return result as { [Name in keyof SnakeCased<Value>]: OnWire<SnakeCased<Value>[Name]> };
}

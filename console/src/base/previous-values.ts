/** Computes the change that undoes a change, and the differences between two states of an object. */

/** Returns the previous values of the fields in a change, also within objects, of which a change may have some fields. */
export function previousValues<Change extends object>(before: object, change: Change): Change {
  const values = before as Fields;
  const fields = Object.entries(change).map(([name, part]) => {
    const value = values[name] ?? null;
    return [name, isFields(value) && isFields(part) ? previousValues(value, part) : value];
  });
  return Object.fromEntries(fields) as Change;
}

/** Fields that change by themselves, or with each change. */
const volatileFields = new Set([
  "spend",
  "remaining",
  "resets_at",
  "last_used_at",
  "updated_at",
  "etag",
]);

/** Renders a value for display. */
export function readValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(readValue).join(", ");
  if (typeof value !== "object") return JSON.stringify(value);
  const parts = Object.entries(value).map(([name, part]) => `${name} ${readValue(part)}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}

export interface Difference {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the fields in which two states of an object differ, as text. Nested fields are listed by path. */
export function differencesOf(before: object | null, after: object | null): Difference[] {
  return differing((before ?? {}) as Fields, (after ?? {}) as Fields, "");
}

function differing(one: Fields, other: Fields, within: string): Difference[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names
    .filter((name) => within !== "" || !volatileFields.has(name))
    .flatMap((name) => {
      const [was, is] = [one[name], other[name]];
      const field = within + name;
      if (isFields(was) && isFields(is)) return differing(was, is, `${field}.`);
      const row = { field, before: readValue(was), after: readValue(is) };
      return row.before === row.after ? [] : [row];
    });
}

/** The new value of a field in a change, by its path, as text; undefined if the change leaves it. */
export function changedValueAt(change: object, path: string): string | undefined {
  let value: unknown = change;
  for (const name of path.split(".")) {
    if (!isFields(value) || !(name in value)) return undefined;
    value = value[name];
  }
  return readValue(value);
}

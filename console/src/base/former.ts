/** What an object had in the fields that a change names: the change that takes it back. */

/** The former values of the change's fields. */
export function formerOf<Change extends object>(before: object, change: Change): Change {
  const values = before as Readonly<Record<string, unknown>>;
  const fields = Object.keys(change).map((name) => [name, values[name] ?? null]);
  return Object.fromEntries(fields) as Change;
}

/** Fields that change by themselves, or with every change. */
const moving = new Set(["spend", "remaining", "resets_at", "last_used_at", "updated_at", "etag"]);

/** A value as a person reads it. */
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

/** The fields in which two states of an object differ, as text. */
export function differencesOf(before: object | null, after: object | null): Difference[] {
  const one = (before ?? {}) as Readonly<Record<string, unknown>>;
  const other = (after ?? {}) as Readonly<Record<string, unknown>>;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names
    .filter((name) => !moving.has(name))
    .map((field) => ({
      field,
      before: readValue(one[field]),
      after: readValue(other[field]),
    }))
    .filter((row) => row.before !== row.after);
}

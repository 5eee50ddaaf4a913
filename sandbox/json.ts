/** Reading JSON of unknown shape. The sandbox trusts no request body, and shares no type with the gateway. */

/** A JSON object, fields unknown. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object; anything else reads as one without fields. */
export function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The value as a list; anything else reads as an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; anything else reads as "". */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value as a number, or undefined. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

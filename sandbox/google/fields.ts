/** The vendor reads proto JSON: `system_instruction` means `systemInstruction`. What callers name themselves stays. */
import type { Json } from "../json.ts";
import { isObject } from "../json.ts";

/** Below these, names belong to the caller. */
const foreign = new Set([
  "args",
  "response",
  "parameters",
  "parametersJsonSchema",
  "responseSchema",
  "responseJsonSchema",
  "labels",
]);

const camel = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The body with the names of the vendor's own fields in camel case. */
export function camelFields(value: Json): Json {
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const known = camel(name);
      return [known, foreign.has(known) ? inner : camelInside(inner)];
    }),
  );
}

function camelInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelInside);
  return isObject(value) ? camelFields(value) : value;
}

/**
 * Checks whether OpenAI can enforce a schema: objects must be closed and require all members, and some keywords are not supported. With
 * `strict`, it refuses the whole request for any other schema. T23.
 */
import { isObject } from "../base/json.ts";
import type { Json, JsonObject } from "./canonical/request.ts";
import { schemasIn } from "./schema-walk.ts";

/** OpenAI's guide names all but `oneOf`, which it refuses as well. */
const refused = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "dependentRequired",
];

/** The formats of texts that OpenAI accepts with `strict`; Claude also accepts `uri`, which zod's `url()` writes. */
const formats: ReadonlySet<Json | undefined> = new Set([
  undefined,
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** True if OpenAI can enforce the schema. */
export const isStrict = (schema: JsonObject): boolean =>
  isClosed(schema) &&
  formats.has(schema["format"]) &&
  !refused.some((keyword) => keyword in schema) &&
  schemasIn(schema).every(isStrict);

/** True for a closed object with all members required, and for schemas of other types. */
function isClosed({ type, properties, required, additionalProperties }: JsonObject): boolean {
  const isMap = properties !== undefined || [type].flat().includes("object");
  if (!isMap) return true;
  const needed = new Set(Array.isArray(required) ? required : []);
  const names = isObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && names.every((name) => needed.has(name));
}

/**
 * Whether OpenAI can hold arguments to a schema: objects are closed and have all their members, and some keywords are none of its own.
 * Beside `strict` it refuses the whole request for any other. T23.
 */
import { isObject } from "../base/json.ts";
import type { JsonObject } from "./canonical/request.ts";
import { schemasIn } from "./schema-walk.ts";

const refused = ["allOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/** Whether arguments can be held to a schema there. */
export const isStrict = (schema: JsonObject): boolean =>
  isClosed(schema) &&
  !refused.some((keyword) => keyword in schema) &&
  schemasIn(schema).every(isStrict);

/** Of what is no object there is nothing to close. */
function isClosed({ type, properties, required, additionalProperties }: JsonObject): boolean {
  const isMap = properties !== undefined || [type].flat().includes("object");
  if (!isMap) return true;
  const needed = new Set(Array.isArray(required) ? required : []);
  const names = isObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && names.every((name) => needed.has(name));
}

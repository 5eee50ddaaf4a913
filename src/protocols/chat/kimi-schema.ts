/**
 * Kimi's endpoint takes a subset of JSON Schema for the arguments of tools, and refuses the whole request for anything else. It takes no
 * `type` beside `anyOf` or `$ref`, references into `$defs` only, and no values without a type. Schemas of MCP servers and of Codex have all of these.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { mapSchemas, schemasIn } from "../schema-walk.ts";

/** Returns the schema as Kimi takes it; the same object if it takes it unchanged. */
export const kimiSchema = (schema: JsonObject): JsonObject =>
  isRefused(schema) ? rewritten(schema) : schema;

const oldPlace = "#/definitions/";

const isRefused = (schema: JsonObject): boolean =>
  rewrittenItself(schema) !== schema || schemasIn(schema).some(isRefused);

const rewritten = (schema: JsonObject): JsonObject =>
  mapSchemas(rewrittenItself(schema), rewritten);

/** Rewrites one schema, without those in it. */
function rewrittenItself(schema: JsonObject): JsonObject {
  const { type, anyOf, $ref, definitions } = schema;
  if (isObject(definitions)) {
    const { definitions: _old, $defs = {}, ...rest } = schema;
    return rewrittenItself({ ...rest, $defs: { ...definitions, ...($defs as JsonObject) } });
  }
  if (typeof $ref === "string") return rewrittenReference(schema, $ref);
  if (Array.isArray(anyOf) && type !== undefined) {
    const { type: _moved, ...rest } = schema;
    return { ...rest, anyOf: anyOf.map((one) => typed(one, type)) };
  }
  const known = type ?? typeOfValues(schema);
  return known === type || known === undefined ? schema : { type: known, ...schema };
}

/** The target of a reference has the type. */
function rewrittenReference(schema: JsonObject, reference: string): JsonObject {
  const { type, ...rest } = schema;
  if (reference.startsWith(oldPlace))
    return { ...rest, $ref: `#/$defs/${reference.slice(oldPlace.length)}` };
  return type === undefined ? schema : rest;
}

const typed = (one: Json, type: Json): Json =>
  isObject(one) && !("type" in one) && !("$ref" in one) ? { type, ...one } : one;

/** Returns the JSON type of a schema's values if all have the same; undefined for anything else. */
function typeOfValues({ enum: values, const: value }: JsonObject): string | undefined {
  const all = Array.isArray(values) ? values : value === undefined ? [] : [value];
  const types = new Set(all.map(typeOf));
  return types.size === 1 ? [...types][0] : undefined;
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

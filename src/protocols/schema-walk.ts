/** Finds the schemas in a JSON Schema. Other members, such as values and examples, are no schemas. */
import { isObject } from "../base/json.ts";
import type { Json, JsonObject } from "./canonical/request.ts";

/** Keywords that map names to schemas. */
const maps = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** Keywords that hold a schema or a list of schemas. */
const members = new Set([
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
]);

/** True if a keyword maps names to schemas. */
export const mapsSchemas = (keyword: string): boolean => maps.has(keyword);

/** Returns the schemas directly in a schema. */
export function schemasIn(schema: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const isMap = maps.has(keyword);
    if (typeof value !== "object" || value === null || !(isMap || members.has(keyword))) continue;
    const all = isMap || Array.isArray(value) ? Object.values(value) : [value];
    for (const one of all) if (isSchema(one)) found.push(one);
  }
  return found;
}

/** Copies a schema and applies `map` to each schema directly in it. */
export function mapSchemas(schema: JsonObject, map: (inner: JsonObject) => JsonObject): JsonObject {
  const one = (value: Json): Json => (isSchema(value) ? map(value) : value);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, Json] => {
      if (maps.has(keyword) && isSchema(value)) return [keyword, mapValues(value, one)];
      if (!members.has(keyword)) return [keyword, value];
      return [keyword, Array.isArray(value) ? value.map(one) : one(value)];
    }),
  );
}

const mapValues = (object: JsonObject, map: (value: Json) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));

const isSchema = (value: Json | undefined): value is JsonObject => isObject(value);

/** A schema that is walked, and the targets of its references. */
interface Walked {
  readonly root: JsonObject;
  readonly targets: Map<string, JsonObject | undefined>;
}

/** Returns the target of a reference; each is resolved once. */
export function targetOf(reference: string, { root, targets }: Walked): JsonObject | undefined {
  if (!targets.has(reference)) targets.set(reference, localTarget(reference, root));
  return targets.get(reference);
}

/** Returns the target of a local reference such as `#/$defs/Name`; undefined for any other. */
export function localTarget(reference: string, root: JsonObject): JsonObject | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let place: Json | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    place = isSchema(place) && Object.hasOwn(place, key) ? place[key] : undefined;
  }
  return isSchema(place) ? place : undefined;
}

/**
 * JSON Schema and the vendor's own dialect of it. Towards the vendor, what it refuses is taken out and local references
 * are put in place (T23); from it, type names become lower case and `nullable` a type.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";

/** Keywords the vendor reads; any other makes it refuse the request. */
const keptKeywords = new Set([
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "enum",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "properties",
  "minProperties",
  "maxProperties",
  "required",
  "additionalProperties",
  "anyOf",
  "oneOf",
  "default",
  "example",
  "propertyOrdering",
]);

const schemaLists = new Set(["anyOf", "oneOf", "prefixItems"]);
const schemaMembers = new Set(["items", "additionalProperties"]);
/** How many schemas references may unfold to: a few lines of them, one within the other, could make billions. */
const schemasMax = 10_000;

interface Cleaning {
  readonly root: JsonObject;
  /** How many schemas may still be written. */
  left: number;
}

/**
 * A JSON Schema as the vendor takes it. Where a reference goes round in a circle, or references unfold without end,
 * stands a schema that allows anything.
 */
export function toVendorSchema(schema: JsonObject): JsonObject {
  return clean(schema, { root: schema, left: schemasMax }, []);
}

/** `within` are the references that are being put in place. */
function clean(schema: JsonObject, cleaning: Cleaning, within: readonly string[]): JsonObject {
  cleaning.left -= 1;
  if (cleaning.left < 0) return {};
  const { $ref: reference, allOf, const: constant, ...own } = schema;
  if (constant !== undefined) own["enum"] = [constant];
  if (typeof reference === "string") {
    const target = within.includes(reference) ? {} : resolve(reference, cleaning.root);
    return clean(mergeAll([target, own]), cleaning, [...within, reference]);
  }
  if (Array.isArray(allOf)) {
    const references = allOf.map((part) => (isJsonObject(part) ? part["$ref"] : undefined));
    const parts = allOf.map((part, index) => {
      const name = references[index];
      if (typeof name !== "string") return part;
      return within.includes(name) ? {} : resolve(name, cleaning.root);
    });
    const names = references.filter((name) => typeof name === "string");
    return clean(mergeAll([...parts, own]), cleaning, [...within, ...names]);
  }
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(own)) {
    if (keptKeywords.has(key)) {
      result[key] = cleanMember(key, value, (member) => cleanAny(member, cleaning, within));
    }
  }
  return result;
}

function cleanMember(key: string, value: Json, cleanOne: (member: Json) => Json): Json {
  if (key === "properties" && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, cleanOne(member)]),
    );
  }
  if (schemaLists.has(key) && Array.isArray(value)) return value.map(cleanOne);
  return schemaMembers.has(key) ? cleanOne(value) : value;
}

const cleanAny = (value: Json, cleaning: Cleaning, within: readonly string[]): Json =>
  isJsonObject(value) ? clean(value, cleaning, within) : value;

const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);

/** Parts of an `allOf` as one schema: properties and required names together, of other keywords the last. */
function mergeAll(parts: readonly Json[]): JsonObject {
  const merged: JsonObject = {};
  for (const part of parts) {
    if (!isJsonObject(part)) continue;
    const { properties, required } = merged;
    Object.assign(merged, part);
    if (isJsonObject(properties) && isJsonObject(part["properties"])) {
      merged["properties"] = { ...properties, ...part["properties"] };
    }
    if (Array.isArray(required) && Array.isArray(part["required"])) {
      merged["required"] = [...new Set([...required, ...part["required"]])];
    }
  }
  return merged;
}

/** What a local reference such as `#/$defs/Name` points at; an empty schema for any other. */
function resolve(reference: string, root: JsonObject): JsonObject {
  if (!reference.startsWith("#/")) return {};
  let place: Json | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    place = isJsonObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
  }
  return isJsonObject(place) ? place : {};
}

/** The vendor's `Schema` object (OpenAPI subset, type names in upper case) as JSON Schema. */
export function fromVendorSchema(schema: WireObject): JsonObject {
  const { nullable, ...rest } = schema;
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(rest)) result[key] = fromMember(key, value);
  const type = result["type"];
  if (nullable === true && typeof type === "string") result["type"] = [type, "null"];
  return result;
}

function fromMember(key: string, value: unknown): Json {
  if (key === "type" && typeof value === "string") return value.toLowerCase();
  if (key === "properties" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, fromAny(member)]),
    );
  }
  if ((key === "anyOf" || key === "any_of") && Array.isArray(value)) return value.map(fromAny);
  return key === "items" ? fromAny(value) : (value as Json);
}

const fromAny = (value: unknown): Json =>
  isObject(value) ? fromVendorSchema(value) : (value as Json);

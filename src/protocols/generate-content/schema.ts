/**
 * JSON Schema and the vendor's own dialect of it. Towards the vendor, what it refuses is taken out, and reported, and local
 * references are put in place (T23); from it, type names become lower case and `nullable` a type.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { snakeCase } from "./names.ts";

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
/** How many members and items may be put together on the way there: lists of references in lists of references multiply. */
const stepsMax = 50_000;
/** Characters of a value that are compared with another's in one step. */
const stepCharacters = 64;

/** Where definitions stand: what refers to them is put in place, so nothing goes with them. */
const definitionPlaces = new Set(["$defs", "definitions"]);

interface Cleaning {
  readonly root: JsonObject;
  /** How many schemas may still be written, and how many steps be taken. */
  left: number;
  steps: number;
  /** Keywords whose meaning the cleaned schema does not have any more. */
  readonly lost: Set<string>;
}

const cleaningOf = (schema: JsonObject): Cleaning => ({
  root: schema,
  left: schemasMax,
  steps: stepsMax,
  lost: new Set(),
});

/**
 * A JSON Schema as the vendor takes it. Where a reference goes round in a circle, or references unfold without end,
 * stands a schema that allows anything.
 */
export function toVendorSchema(schema: JsonObject): JsonObject {
  return clean(schema, cleaningOf(schema), new Set());
}

/** The keywords that `toVendorSchema` takes out of a schema, sorted; a reference counts where nothing could take its place. */
export function schemaLosses(schema: JsonObject): string[] {
  const cleaning = cleaningOf(schema);
  clean(schema, cleaning, new Set());
  return [...cleaning.lost].sort();
}

/** Whether the schema that comes next may be written; where it may not, what it refers to is lost. */
function mayGoOn(cleaning: Cleaning): boolean {
  cleaning.left -= 1;
  if (cleaning.left >= 0 && cleaning.steps >= 0) return true;
  cleaning.lost.add("$ref");
  return false;
}

/** `within` are the references that are being put in place. */
function clean(schema: JsonObject, cleaning: Cleaning, within: ReadonlySet<string>): JsonObject {
  if (!mayGoOn(cleaning)) return {};
  let { own, parts } = partsOf(schema);
  let inside = within;
  while (parts.length > 0) {
    const { schemas, names } = inPlace(parts, cleaning, inside);
    cleaning.steps -= inside.size;
    inside = new Set([...inside, ...names]);
    ({ own, parts } = partsOf(mergeAll([...schemas, own], cleaning)));
    if (!mayGoOn(cleaning)) return {};
  }
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(own)) {
    if (keptKeywords.has(key)) {
      result[key] = cleanMember(key, value, (member) => cleanAny(member, cleaning, inside));
    } else if (!definitionPlaces.has(key)) cleaning.lost.add(key);
  }
  return result;
}

/** What a schema says itself, and the schemas that it is made of besides. */
function partsOf(schema: JsonObject): { own: JsonObject; parts: Json[] } {
  const { $ref: reference, allOf, const: constant, ...own } = schema;
  if (constant !== undefined) own["enum"] = [constant];
  const parts = [
    ...(typeof reference === "string" ? [{ $ref: reference }] : []),
    ...(Array.isArray(allOf) ? allOf : []),
  ];
  return { own, parts };
}

/** Schemas with each reference replaced by what it points at, one step deep, and the names of these references. */
function inPlace(
  parts: readonly Json[],
  cleaning: Cleaning,
  within: ReadonlySet<string>,
): { schemas: Json[]; names: Set<string> } {
  const { root, lost } = cleaning;
  const names = new Set<string>();
  const schemas = parts.map((part) => {
    const name = isJsonObject(part) ? part["$ref"] : undefined;
    if (typeof name !== "string") return part;
    names.add(name);
    const target = within.has(name) ? undefined : resolve(name, root);
    if (!target) lost.add("$ref");
    const { $ref: _name, ...beside } = part as JsonObject;
    return mergeAll([target ?? {}, beside], cleaning);
  });
  return { schemas, names };
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

const cleanAny = (value: Json, cleaning: Cleaning, within: ReadonlySet<string>): Json =>
  isJsonObject(value) ? clean(value, cleaning, within) : value;

const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);

/**
 * Parts of an `allOf` as one schema: properties, required names and parts within them together, of other keywords the
 * last. Where two parts speak of one property, or say different things with one keyword, that is a loss of `allOf`.
 */
function mergeAll(parts: readonly Json[], cleaning: Cleaning): JsonObject {
  const merged: JsonObject = {};
  for (const part of parts) {
    if (cleaning.steps < 0) break;
    const members = isJsonObject(part) ? Object.entries(part) : [];
    cleaning.steps -= 1 + members.length;
    for (const [key, value] of members) {
      if (key !== "__proto__") merged[key] = mergeMember(key, merged[key], value, cleaning);
    }
  }
  return merged;
}

function mergeMember(key: string, first: Json | undefined, second: Json, cleaning: Cleaning): Json {
  if (first === undefined || first === second || annotations.has(key)) return second;
  if (key === "properties" && isJsonObject(first) && isJsonObject(second)) {
    const names = Object.keys(second);
    cleaning.steps -= Object.keys(first).length + names.length;
    if (names.some((name) => Object.hasOwn(first, name))) cleaning.lost.add("allOf");
    return { ...first, ...second };
  }
  if (Array.isArray(first) && Array.isArray(second) && (key === "allOf" || key === "required")) {
    cleaning.steps -= first.length + second.length;
    return key === "allOf" ? [...first, ...second] : [...new Set([...first, ...second])];
  }
  if (!definitionPlaces.has(key) && differs(first, second, cleaning)) cleaning.lost.add("allOf");
  return second;
}

/** Whether two values are written differently. Asked until it is known that something is lost. */
function differs(first: Json, second: Json, cleaning: Cleaning): boolean {
  if (cleaning.lost.has("allOf")) return false;
  const [left, right] = [JSON.stringify(first), JSON.stringify(second)];
  cleaning.steps -= Math.floor((left.length + right.length) / stepCharacters);
  return left !== right;
}

/** What says nothing about values. */
const annotations = new Set(["title", "description", "default", "example", "$comment"]);

/** What a local reference such as `#/$defs/Name` points at; undefined for any other. */
function resolve(reference: string, root: JsonObject): JsonObject | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let place: Json | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    place = isJsonObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
  }
  return isJsonObject(place) ? place : undefined;
}

/** Keywords by their other spelling, and by the vendor's own. */
const keywordOf = new Map([
  ...[...keptKeywords].map((name) => [snakeCase(name), name] as const),
  ["defs", "$defs"],
  ["ref", "$ref"],
]);
/** Numbers of 64 bits, which the vendor's JSON writes as text too. */
const bounds = new Set(
  ["Items", "Length", "Properties"].flatMap((what) => [`min${what}`, `max${what}`]),
);

/** The vendor's `Schema` object (OpenAPI subset, type names in upper case) as JSON Schema. */
export function fromVendorSchema(schema: WireObject): JsonObject {
  const { nullable, ...rest } = schema;
  const result: JsonObject = {};
  for (const [spelled, value] of Object.entries(rest)) {
    if (spelled === "type" && value === "TYPE_UNSPECIFIED") continue;
    const key = keywordOf.get(spelled) ?? spelled;
    result[key] = fromMember(key, value);
  }
  if (nullable === true) allowNull(result);
  return result;
}

/** Of a type, of values that are listed, and of a choice of schemas `null` is one more. */
function allowNull(schema: JsonObject): void {
  const { type, enum: values, anyOf } = schema;
  if (typeof type === "string") schema["type"] = [type, "null"];
  if (Array.isArray(values) && !values.includes(null)) schema["enum"] = [...values, null];
  if (type === undefined && Array.isArray(anyOf)) schema["anyOf"] = [...anyOf, { type: "null" }];
}

/** Members that hold schemas by name. */
const schemaMaps = new Set(["properties", "$defs"]);

function fromMember(key: string, value: unknown): Json {
  if (key === "type" && typeof value === "string") return value.toLowerCase();
  if (key === "$ref" && typeof value === "string") return value.replace(/^#\/defs\//, "#/$defs/");
  if (schemaMaps.has(key) && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, fromAny(member)]),
    );
  }
  if (schemaLists.has(key) && Array.isArray(value)) return value.map(fromAny);
  if (bounds.has(key) && typeof value === "string" && /^\d+$/.test(value)) return Number(value);
  return schemaMembers.has(key) ? fromAny(value) : (value as Json);
}

const fromAny = (value: unknown): Json =>
  isObject(value) ? fromVendorSchema(value) : (value as Json);

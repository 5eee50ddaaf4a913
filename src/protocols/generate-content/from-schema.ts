/** Converts the vendor's dialect of JSON Schema to JSON Schema: type names in lower case, `nullable` as a type. */
import { isObject, type WireObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { snakeName } from "../../base/casing.ts";
import { keptKeywords, schemaLists, schemaMembers } from "./schema.ts";

/** Keywords by their snake_case spelling and by the vendor's name. */
const keywordOf = new Map([
  ...[...keptKeywords].map((name) => [snakeName(name), name] as const),
  ["defs", "$defs"],
  ["ref", "$ref"],
]);
/** 64-bit numbers, which the vendor's JSON may write as strings. */
const bounds = new Set(
  ["Items", "Length", "Properties"].flatMap((what) => [`min${what}`, `max${what}`]),
);

/** Converts the vendor's `Schema` object (OpenAPI subset, type names in upper case) to JSON Schema. */
export function fromVendorSchema(schema: WireObject): JsonObject {
  const { nullable, ...rest } = schema;
  const result: JsonObject = {};
  for (const [spelled, value] of Object.entries(rest)) {
    if (spelled === "type" && (value === "TYPE_UNSPECIFIED" || value === 0)) continue;
    const key = keywordOf.get(spelled) ?? spelled;
    result[key] = fromMember(key, value);
  }
  if (nullable === true) allowNull(result);
  return result;
}

/** Adds `null` to a type, to listed values and to a choice of schemas. */
function allowNull(schema: JsonObject): void {
  const { type, enum: values, anyOf } = schema;
  if (typeof type === "string") schema["type"] = [type, "null"];
  if (Array.isArray(values) && !values.includes(null)) schema["enum"] = [...values, null];
  if (type === undefined && Array.isArray(anyOf)) schema["anyOf"] = [...anyOf, { type: "null" }];
}

/** Members that map names to schemas. */
const schemaMaps = new Set(["properties", "$defs"]);

function fromMember(key: string, value: unknown): Json {
  if (key === "type") return typeOf(value);
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

/** The types by the vendor's numbers, which Google's older SDK for Python sends by REST. */
const types = ["", "string", "number", "integer", "boolean", "array", "object", "null"];

function typeOf(value: unknown): Json {
  if (typeof value === "string") return value.toLowerCase();
  return (typeof value === "number" ? types[value] : undefined) ?? (value as Json);
}

const fromAny = (value: unknown): Json =>
  isObject(value) ? fromVendorSchema(value) : (value as Json);

/** The vendor's own dialect of JSON Schema as JSON Schema: type names become lower case, and `nullable` a type. */
import { isObject, type WireObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { snakeName } from "../../base/casing.ts";
import { keptKeywords, schemaLists, schemaMembers } from "./schema.ts";

/** Keywords by their other spelling, and by the vendor's own. */
const keywordOf = new Map([
  ...[...keptKeywords].map((name) => [snakeName(name), name] as const),
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

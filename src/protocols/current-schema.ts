/**
 * Rewrites schemas in the current form of JSON Schema, with the same meaning. Earlier drafts have lists in `items`, and `true` as a bound or
 * as `required`; clients in Go send members that are null. OpenAI, Anthropic and Google refuse the whole request for one of them. T23, T24.
 */
import { isObject } from "../base/json.ts";
import type { CanonicalRequest, Json, JsonObject } from "./canonical/request.ts";
import { mapsSchemas, mapSchemas, schemasIn } from "./schema-walk.ts";

/** Rewrites the schemas of the tools and of the answer. */
export function withCurrentSchemas(request: CanonicalRequest): CanonicalRequest {
  const { tools, outputFormat: format } = request;
  return {
    ...request,
    ...(tools && {
      tools: tools.map((tool) =>
        tool.parameters ? { ...tool, parameters: toCurrentSchema(tool.parameters) } : tool,
      ),
    }),
    ...(format?.type === "json_schema" && {
      outputFormat: { ...format, schema: toCurrentSchema(format.schema) },
    }),
  };
}

/** Returns the schema in the current form; the same schema if it has it. */
export const toCurrentSchema = (schema: JsonObject): JsonObject =>
  holdsOld(schema) ? renew(schema) : schema;

const holdsOld = (schema: JsonObject): boolean =>
  Object.entries(schema).some(isOld) || schemasIn(schema).some(holdsOld);

/** Keywords whose value may be null. */
const values: ReadonlySet<string> = new Set(["const", "default", "example"]);
/** Bounds that had a switch in draft 4. */
const bounds = [
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
] as const;
const switches: ReadonlySet<string> = new Set(["required", ...bounds.map(([name]) => name)]);

const isOld = ([keyword, value]: [string, Json]): boolean =>
  (value === null && !values.has(keyword)) ||
  (keyword === "items" && Array.isArray(value)) ||
  (typeof value === "boolean" && switches.has(keyword)) ||
  (mapsSchemas(keyword) && isObject(value) && Object.values(value).includes(null));

function renew(schema: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [keyword, value] of Object.entries(mapSchemas(schema, renew))) {
    if (value === null && !values.has(keyword)) continue;
    if (typeof value === "boolean" && switches.has(keyword)) continue;
    result[keyword] = mapsSchemas(keyword) && isObject(value) ? withoutNulls(value) : value;
  }
  renewItems(result);
  for (const [name, limit] of bounds) {
    const { [limit]: value } = result;
    if (schema[name] !== true || value === undefined) continue;
    result[name] = value;
    delete result[limit];
  }
  const required = requiredIn(schema);
  if (required.length > 0)
    result["required"] = [
      ...new Set([...(Array.isArray(result["required"]) ? result["required"] : []), ...required]),
    ];
  return result;
}

/** A property without a schema may be anything. */
const withoutNulls = (schemas: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schema ?? {}]));

/** Until 2020, the schemas of a list's first items were in `items`, and the one of all others in `additionalItems`. */
function renewItems(schema: JsonObject): void {
  const { items, additionalItems } = schema;
  if (!Array.isArray(items)) return;
  delete schema["items"];
  delete schema["additionalItems"];
  if (items.length > 0) schema["prefixItems"] = items;
  if (additionalItems !== undefined) schema["items"] = additionalItems;
}

/** The properties that say of themselves that they are required, as in draft 3. */
function requiredIn({ properties }: JsonObject): string[] {
  if (!isObject(properties)) return [];
  const isRequired = (value: unknown): boolean => isObject(value) && value["required"] === true;
  return Object.keys(properties).filter((name) => isRequired(properties[name]));
}

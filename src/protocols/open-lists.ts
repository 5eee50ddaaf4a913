/**
 * Lists in schemas without `items` may hold anything. OpenAI refuses a request with one, so `items` is added; schemas of MCP servers often
 * lack it. T23, T24.
 */
import type { JsonObject } from "./canonical/request.ts";
import { mapSchemas, schemasIn } from "./schema-walk.ts";

/** Returns the schema with `items` in all lists; unchanged if they have it. */
export const withItems = (schema: JsonObject): JsonObject =>
  holdsOpenList(schema) ? close(schema) : schema;

const isOpenList = ({ type, items }: JsonObject): boolean =>
  items === undefined && (Array.isArray(type) ? type.includes("array") : type === "array");

const holdsOpenList = (schema: JsonObject): boolean =>
  isOpenList(schema) || schemasIn(schema).some(holdsOpenList);

function close(schema: JsonObject): JsonObject {
  const closed = mapSchemas(schema, close);
  return isOpenList(schema) ? { ...closed, items: {} } : closed;
}

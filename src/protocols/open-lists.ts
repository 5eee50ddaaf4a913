/**
 * Lists in schemas that do not say what is in them: anything may be. OpenAI refuses the whole request for one, so that they say it there,
 * as schemas of MCP servers often do not. T23, T24.
 */
import type { JsonObject } from "./canonical/request.ts";
import { mapSchemas, schemasIn } from "./schema-walk.ts";

/** The schema, in which all lists have `items`; itself where they do. */
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

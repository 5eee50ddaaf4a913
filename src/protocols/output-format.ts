/** The output format of the OpenAI-style protocols. Requirements: CONV. */
import { exactTwinOf } from "../base/exact-numbers.ts";
import type { WireObject } from "../base/json.ts";
import type { JsonObject, OutputFormat } from "./canonical/request.ts";
import { member, objectOf } from "./read.ts";

/**
 * Decodes a format; undefined for a type that no other protocol knows. `declaration`: the object with the JSON schema and its name, which
 * is the format itself or a member of it.
 */
export function formatOf(wire: WireObject, declaration: WireObject): OutputFormat | undefined {
  if (wire["type"] === "text") return { type: "text" };
  if (wire["type"] === "json_object") return { type: "json" };
  if (wire["type"] !== "json_schema") return undefined;
  const { name, description, schema, strict } = declaration;
  return {
    type: "json_schema",
    schema: exactTwinOf(objectOf(schema)) as JsonObject,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

/** The members of a JSON schema's declaration. */
export const declarationKeys: readonly string[] = ["name", "description", "schema", "strict"];

/** Encodes a format. `place` puts the declaration of a JSON schema where the protocol has it. */
export function formatWith(
  format: OutputFormat,
  place: (declaration: JsonObject) => JsonObject,
): JsonObject {
  if (format.type === "text") return { type: "text" };
  if (format.type === "json") return { type: "json_object" };
  const { name = "answer", description, schema, strict } = format;
  const optional = { ...member("description", description), ...member("strict", strict) };
  return { type: "json_schema", ...place({ name, schema, ...optional }) };
}

export type SchemaFormat = Extract<OutputFormat, { type: "json_schema" }>;

/** Returns the schema of a format, with the format's description in it, for protocols that have no other place. */
export function describedSchema({ schema, description }: SchemaFormat): JsonObject {
  if (description === undefined) return schema;
  const own = schema["description"];
  const whole = typeof own === "string" ? `${description}\n\n${own}` : description;
  return { ...schema, description: whole };
}

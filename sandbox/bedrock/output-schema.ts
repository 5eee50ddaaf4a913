/** What the bedrock-like vendor refuses of a schema for the answer at Converse: anything but JSON text of closed objects. */
import type { Json } from "../json.ts";
import { asObject } from "../json.ts";
import type { Failure } from "../refusal.ts";
import { breach, says } from "./refusals.ts";

export function wrongOutput(body: Json): Failure | undefined {
  if (body["outputConfig"] === undefined) return undefined;
  const { textFormat } = asObject(body["outputConfig"]);
  const { type, structure } = asObject(textFormat);
  if (type !== "json_schema")
    return breach("outputConfig.textFormat.type", "satisfy enum value set: [json_schema]");
  const { schema } = asObject(asObject(structure)["jsonSchema"]);
  const place = "outputConfig.textFormat.structure.jsonSchema.schema";
  if (typeof schema !== "string") return breach(place, "not be null");
  return isClosed(parsedObject(schema))
    ? undefined
    : says(`The JSON schema at ${place} is invalid: additionalProperties must be false.`);
}

function parsedObject(text: string): Json {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

const isClosed = (schema: Json): boolean =>
  Object.keys(schema).length > 0 &&
  (schema["type"] !== "object" || schema["additionalProperties"] === false) &&
  Object.values(asObject(schema["properties"])).every((inner) => isClosed(asObject(inner)));

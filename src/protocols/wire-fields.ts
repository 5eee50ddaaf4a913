/** Schemas of fields that several protocols share. Requirements: CONV. */
import { Type } from "../base/json-schema.ts";
import { anyObject, nullable, oneOf } from "./wire-check.ts";

/** The members of a function declaration. */
export const functionFields = {
  name: Type.String({ minLength: 1 }),
  description: nullable(Type.String()),
  parameters: nullable(anyObject),
  strict: nullable(Type.Boolean()),
};

/** The members of an answer schema's declaration. */
export const declarationFields = {
  name: Type.String(),
  description: nullable(Type.String()),
  schema: { type: "object" },
  strict: nullable(Type.Boolean()),
};

/** Optional strings with these names. */
export const optionalTexts = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, nullable(Type.String())]));

/** The audio of a part; without a format it is WAV. */
export const audioFields = { data: Type.String(), ...optionalTexts("format") };

/** The members of a custom tool's declaration. */
export const customFields = {
  ...optionalTexts("name", "description"),
  format: nullable(anyObject),
};

/** A choice among some tools; the decoder reads each entry. */
export const allowedFields = { mode: nullable(Type.String()), tools: Type.Array(anyObject) };

export const promptCacheOptions = nullable(
  Type.Object({ ttl: nullable(oneOf("30m")), mode: nullable(oneOf("implicit", "explicit")) }),
);

/** Cache lifetime of a content part. As in the request's options, only 30 minutes is accepted, the lifetime that the price covers. */
export const promptCacheBreakpoint = nullable(Type.Object({ ttl: nullable(oneOf("30m")) }));

export const promptCacheRetention = nullable(oneOf("in_memory", "24h"));

/** Fields that several protocols check alike, as schemas. Requirements: CONV. */
import { Type } from "../base/json-schema.ts";
import { anyObject, nullable, oneOf } from "./wire-check.ts";

/** The members of what declares a function. */
export const functionFields = {
  name: Type.String({ minLength: 1 }),
  description: nullable(Type.String()),
  parameters: nullable(anyObject),
  strict: nullable(Type.Boolean()),
};

/** The members of a schema that an answer is held to. */
export const declarationFields = {
  name: Type.String(),
  description: nullable(Type.String()),
  schema: { type: "object" },
  strict: nullable(Type.Boolean()),
};

/** Optional texts by these names. */
export const optionalTexts = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, nullable(Type.String())]));

/** The sound of a part; where its form is not told, it is WAV. */
export const audioFields = { data: Type.String(), ...optionalTexts("format") };

/** The members of what declares a custom tool. */
export const customFields = {
  ...optionalTexts("name", "description"),
  format: nullable(anyObject),
};

/** A choice among some of the tools: which they are is read of each. */
export const allowedFields = { mode: nullable(Type.String()), tools: Type.Array(anyObject) };

export const promptCacheOptions = nullable(
  Type.Object({ ttl: nullable(oneOf("30m")), mode: nullable(oneOf("implicit", "explicit")) }),
);

/** Of a part of the content: the request's own options say as much of a cache's life, and its price is that of 30 minutes. */
export const promptCacheBreakpoint = nullable(Type.Object({ ttl: nullable(oneOf("30m")) }));

export const promptCacheRetention = nullable(oneOf("in_memory", "24h"));

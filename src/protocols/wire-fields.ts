/** Fields that chat and responses check alike, as schemas. Requirements: CONV. */
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

export const promptCacheOptions = nullable(
  Type.Object({ ttl: nullable(oneOf("30m")), mode: nullable(oneOf("implicit", "explicit")) }),
);

/** Of a part of the content: the request's own options say as much of a cache's life, and its price is that of 30 minutes. */
export const promptCacheBreakpoint = nullable(Type.Object({ ttl: nullable(oneOf("30m")) }));

export const promptCacheRetention = nullable(oneOf("in_memory", "24h"));

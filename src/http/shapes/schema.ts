/** Schemas that many answers and the OpenAPI document share. */
import { Type, type TSchema } from "../../base/json-schema.ts";

/** A reference to a named schema of any part of the document. */
export const ref = (name: string): TSchema => Type.Unsafe({ $ref: `#/components/schemas/${name}` });

/** A field that is always there and may be null. */
export const orNull = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()]);

/** A string out of a closed set. */
export const oneOf = (...values: string[]): TSchema =>
  Type.Unsafe({ type: "string", enum: values });

/** A decimal amount of USD, never a float. */
export const usd = (description: string): TSchema =>
  Type.String({ description, pattern: String.raw`^-?\d+(\.\d+)?$`, examples: ["0.00125"] });

export const timestamp = (description: string): TSchema =>
  Type.String({ description, format: "date-time" });

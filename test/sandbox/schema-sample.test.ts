/** Generated tool arguments are valid by their schema, checked with an independent validator. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { sampleOf } from "../../sandbox/schema-sample.ts";

const object = (properties: object, more: object = {}) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

const schemas: Record<string, Record<string, unknown>> = {
  "strings with bounds": object({
    long: { type: "string", minLength: 40 },
    short: { type: "string", maxLength: 3 },
    coded: { type: "string", pattern: "^[A-Z]{2}[0-9]+$" },
  }),
  enums: object({
    unit: { enum: ["c", "k"] },
    one: { const: 7 },
    three: { type: "string", enum: ["x"] },
  }),
  numbers: object({
    low: { type: "number", minimum: 2.5 },
    above: { type: "integer", exclusiveMinimum: 10 },
    below: { type: "integer", exclusiveMaximum: 0 },
    tight: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.5 },
    step: { type: "integer", minimum: 7, multipleOf: 5 },
    capped: { type: "integer", maximum: -3 },
  }),
  arrays: object({
    many: { type: "array", items: { type: "string" }, minItems: 3, uniqueItems: true },
    none: { type: "array", maxItems: 0 },
    chosen: { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 2, uniqueItems: true },
    pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], minItems: 2 },
  }),
  nested: object({ a: object({ b: object({ c: { type: "boolean" } }) }) }),
  "local references": object(
    { home: { $ref: "#/$defs/place" } },
    { $defs: { place: object({ city: { type: "string" } }) } },
  ),
  "recursion that may end": {
    $ref: "#/$defs/tree",
    $defs: {
      tree: {
        type: "object",
        properties: { name: { type: "string" }, children: { type: "array" } },
        required: ["name"],
      },
    },
  },
  alternatives: object({
    any: { anyOf: [{ type: "string" }, { type: "null" }] },
    one: { oneOf: [{ type: "integer" }, { type: "string" }] },
    all: {
      allOf: [
        object({ a: { type: "string" } }, { additionalProperties: true }),
        { required: ["a"] },
      ],
    },
    several: { type: ["null", "boolean"] },
  }),
  "nothing required": {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number" } },
  },
  "no type": { properties: { a: {} }, required: ["a"] },
};

describe("a sample of a schema", () => {
  it.each(Object.entries(schemas))("is valid for the schema: %s", (_, schema) => {
    const validate = new Ajv2020({ strict: false }).compile(schema);
    validate(sampleOf(schema));
    expect(validate.errors).toBeNull();
  });

  it("has all properties if none is required, and ends recursion", () => {
    expect(sampleOf(schemas["nothing required"]!)).toEqual({ a: "sample a", b: 1 });
    const endless = { $ref: "#/$defs/x", $defs: { x: object({ x: { $ref: "#/$defs/x" } }) } };
    expect(JSON.stringify(sampleOf(endless)).length).toBeLessThan(100);
  });

  it("accepts the upper-case types of the google-like vendor", () => {
    const schema = { type: "OBJECT", properties: { n: { type: "INTEGER" } }, required: ["n"] };
    expect(sampleOf(schema)).toEqual({ n: 1 });
  });
});

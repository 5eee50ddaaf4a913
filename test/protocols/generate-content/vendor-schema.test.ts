/** Google's own schema dialect, converted to JSON Schema for other vendors. CONV-208; trap T24. */
import { expect, it } from "vitest";
import { fromVendorSchema } from "../../../src/protocols/generate-content/from-schema.ts";
import { routeOf } from "../../conversion/route.ts";

const read = (schema: Record<string, unknown>) => fromVendorSchema(schema);

it.each([
  [
    "additionalProperties",
    { additionalProperties: { type: "STRING" } },
    { additionalProperties: { type: "string" } },
  ],
  [
    "additional_properties",
    { additional_properties: { type: "STRING" } },
    { additionalProperties: { type: "string" } },
  ],
  ["a switch", { additionalProperties: false }, { additionalProperties: false }],
  ["oneOf", { oneOf: [{ type: "NUMBER" }] }, { oneOf: [{ type: "number" }] }],
  ["prefixItems", { prefixItems: [{ type: "STRING" }] }, { prefixItems: [{ type: "string" }] }],
  [
    "defs and ref",
    { defs: { Place: { type: "STRING" } }, properties: { at: { ref: "#/defs/Place" } } },
    { $defs: { Place: { type: "string" } }, properties: { at: { $ref: "#/$defs/Place" } } },
  ],
  ["an unspecified type", { type: "TYPE_UNSPECIFIED", description: "x" }, { description: "x" }],
])("the schemas within %s are converted too", (_what, schema, expected) => {
  expect(read(schema)).toEqual(expected);
});

it.each([
  ["a type", { type: "STRING", nullable: true }, { type: ["string", "null"] }],
  [
    "listed values",
    { type: "STRING", enum: ["A"], nullable: true },
    { type: ["string", "null"], enum: ["A", null] },
  ],
  [
    "a choice of schemas",
    { anyOf: [{ type: "STRING" }], nullable: true },
    { anyOf: [{ type: "string" }, { type: "null" }] },
  ],
])("a nullable schema with %s allows null", (_what, schema, expected) => {
  expect(read(schema)).toEqual(expected);
});

it("a member with the name of a keyword is read as a member", () => {
  const properties = {
    type: { type: "STRING" },
    ref: { type: "STRING" },
    defs: { type: "STRING" },
  };
  expect(read({ properties })["properties"]).toEqual({
    type: { type: "string" },
    ref: { type: "string" },
    defs: { type: "string" },
  });
});

it("T24: a tool with a map reaches a chat upstream with that protocol's types", () => {
  const parameters = {
    type: "OBJECT",
    properties: { labels: { type: "OBJECT", additionalProperties: { type: "STRING" } } },
  };
  const { body } = routeOf("generate_content", "chat", {
    contents: [{ parts: [{ text: "Hi" }] }],
    tools: [{ functionDeclarations: [{ name: "label", parameters }] }],
  });
  expect(JSON.stringify(body["tools"])).not.toMatch(/STRING|OBJECT/);
});

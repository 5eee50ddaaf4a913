/** Google's own schema dialect, converted to JSON Schema for other vendors. CONV-208; trap T24. */
import { expect, it } from "vitest";
import { fromVendorSchema } from "../../../src/protocols/generate-content/from-schema.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";
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
  [
    "numbers of types",
    { type: 6, properties: { a: { type: 1, nullable: true }, b: { type: 5, items: { type: 3 } } } },
    {
      type: "object",
      properties: {
        a: { type: ["string", "null"] },
        b: { type: "array", items: { type: "integer" } },
      },
    },
  ],
  ["the number of no type", { type: 0, description: "x" }, { description: "x" }],
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

it("T24 T29: enums as numbers, as Google's older SDK for Python sends them by REST, are read", () => {
  const parameters = { type: 6, properties: { a: { type: 1 } } };
  const body = {
    contents: [{ parts: [{ text: "Hi" }] }],
    tools: [{ functionDeclarations: [{ name: "f", parameters }] }],
    toolConfig: { functionCallingConfig: { mode: 2, allowedFunctionNames: ["f"] } },
    safetySettings: [{ category: 7, threshold: 4 }],
    generationConfig: { responseModalities: [1] },
  };
  expect(() => generateContentCodec.direct.validate(body)).not.toThrow();
  expect(routeOf("generate_content", "chat", body).body).toMatchObject({
    tools: [
      { function: { parameters: { type: "object", properties: { a: { type: "string" } } } } },
    ],
    tool_choice: { type: "function", function: { name: "f" } },
  });
});

it.each([
  ["any", { type: "function", function: { name: "f" } }],
  ["none", "none"],
  ["auto", "auto"],
])("T29: the mode %s in small letters, as LangChain and Koog write it, is read", (mode, choice) => {
  const allowedFunctionNames = mode === "any" ? ["f"] : [];
  const body = {
    contents: [{ parts: [{ text: "Hi" }] }],
    tools: [{ functionDeclarations: [{ name: "f" }] }],
    toolConfig: { functionCallingConfig: { mode, allowedFunctionNames } },
  };
  expect(() => generateContentCodec.direct.validate(body)).not.toThrow();
  expect(routeOf("generate_content", "chat", body).body).toMatchObject({ tool_choice: choice });
});

/**
 * Schemas of earlier drafts and with null members, as clients in Go and MCP servers send them. OpenAI, Anthropic and Google refuse the
 * whole request for one of them. T23, T24.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/index.ts";
import { toCurrentSchema } from "../../src/protocols/current-schema.ts";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import { requestWith } from "./tool-wire.ts";

const placeOf = {
  chat: ["tools", 0, "function", "parameters"],
  responses: ["tools", 0, "parameters"],
  messages: ["tools", 0, "input_schema"],
  generate_content: ["tools", 0, "functionDeclarations", 0, "parametersJsonSchema"],
  converse: ["toolConfig", "tools", 0, "toolSpec", "inputSchema", "json"],
} as const;
const text: JsonObject = { type: "string" };
const number: JsonObject = { type: "number" };

const old: JsonObject = {
  type: "object",
  description: null,
  required: null,
  properties: {
    name: { ...text, description: null, enum: null },
    pair: { type: "array", items: [number, number], minItems: 2, maxItems: 2 },
    at: { type: "object", properties: null, required: null },
    any: null,
    maybe: { anyOf: [text, { type: "null" }], default: null },
  },
};
const current: JsonObject = {
  type: "object",
  properties: {
    name: text,
    at: { type: "object" },
    any: {},
    maybe: { anyOf: [text, { type: "null" }], default: null },
  },
};

describe.each(Object.keys(placeOf) as (keyof typeof placeOf)[])("a tool towards %s", (upstream) => {
  const callers = (["chat", "messages"] as const).filter((name) => name !== upstream);
  it.each(callers)("T24: has no null members and no list in `items` (from %s)", (caller) => {
    const { body, notes } = routeOf(caller, upstream, requestWith[caller]("look", old));
    const sent = at(body, ...placeOf[upstream]);
    expect(sent).toMatchObject(current);
    expect(sent).toHaveProperty("properties.pair.prefixItems", [number, number]);
    expect(sent).not.toHaveProperty("required");
    expect(sent).not.toHaveProperty("properties.name.enum");
    expect(sent).not.toHaveProperty("properties.at.required");
    expect(JSON.stringify(sent).match(/null/g)).toHaveLength(2);
    expect(notes).toEqual([]);
  });
});

it("T24: nulls instead of properties are those of a tool without arguments", () => {
  const schema = { type: "object", properties: null, required: null };
  for (const upstream of ["responses", "messages"] as const) {
    const { body } = routeOf("chat", upstream, requestWith.chat("look", schema));
    expect(at(body, ...placeOf[upstream])).toEqual({ type: "object", properties: {} });
  }
});

it("T23: the schema of an answer is renewed too", () => {
  const { body } = routeOf("generate_content", "chat", {
    contents: [{ role: "user", parts: [{ text: "As JSON." }] }],
    generationConfig: { responseMimeType: "application/json", responseJsonSchema: old },
  });
  const sent = at(body, "response_format", "json_schema", "schema");
  expect(sent).toMatchObject(current);
  expect(sent).not.toHaveProperty("required");
});

describe("the current form of a schema", () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      "draft 4: a bound with a switch",
      { ...number, minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      { ...number, exclusiveMinimum: 0, maximum: 9 },
    ],
    [
      "draft 3: properties that are required by themselves",
      {
        properties: { a: { ...text, required: true }, b: { ...text, required: false } },
        required: ["c", "a"],
      },
      { properties: { a: text, b: text }, required: ["c", "a"] },
    ],
    [
      "draft 7: a list of items, and what may follow them",
      { type: "array", items: [text, { type: "array", items: [] }], additionalItems: false },
      { type: "array", prefixItems: [text, { type: "array" }], items: false },
    ],
    [
      "a property whose name is a keyword",
      { properties: { required: { type: "boolean", description: null }, items: text } },
      { properties: { required: { type: "boolean" }, items: text } },
    ],
  ])("T23: %s", (_title, schema, expected) => {
    expect(toCurrentSchema(schema)).toEqual(expected);
  });

  it("T23: leaves values and a schema that has it alone", () => {
    const schema: JsonObject = {
      properties: {
        a: { const: null },
        b: { enum: [null, [null]], examples: [{ items: [null] }], default: { required: true } },
      },
      required: ["a"],
    };
    expect(toCurrentSchema(schema)).toBe(schema);
  });
});

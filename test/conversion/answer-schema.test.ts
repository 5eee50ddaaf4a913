/**
 * Answer schemas towards Claude. Models whose record says so take one in `output_config.format`, but only a part of JSON Schema.
 * For other models the schema is dropped, as the row says. CONV-412.
 */
import { describe, expect, it } from "vitest";
import {
  codecs,
  createRoute,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { toAnswerSchema } from "../../src/protocols/answer-schema.ts";

const user = { role: "user", content: "Hi" };
const bodyWith: Record<Exclude<ProtocolName, "messages">, (schema: JsonObject) => JsonObject> = {
  chat: (schema) => ({
    model: "acme/talk",
    messages: [user],
    response_format: {
      type: "json_schema",
      json_schema: { name: "n", description: "An answer.", schema },
    },
  }),
  responses: (schema) => ({
    model: "acme/talk",
    input: [user],
    text: { format: { type: "json_schema", name: "n", description: "An answer.", schema } },
  }),
  generate_content: (schema) => ({
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
  }),
};
const formatName = {
  chat: ["response_format"],
  responses: ["text.format"],
  generate_content: ["generationConfig.responseJsonSchema", "generationConfig.responseMimeType"],
} as const;

const callOf = (caller: ProtocolName, body: JsonObject, structuredOutputs?: boolean) =>
  ({
    caller: codecs[caller],
    upstream: codecs.messages,
    body,
    stream: false,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "claude-sonnet-5-5",
    maxOutputTokens: 1000,
    abilities: { structuredOutputs, reasoning: { kind: "adaptive", values: ["low"], off: true } },
    inputEstimate: 1,
    id: "01abc",
    createdAt: 1,
  }) as const;
const routeOf = (...call: Parameters<typeof callOf>) => createRoute(callOf(...call));

const given: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { age: { type: "integer", minimum: 0 }, name: { type: ["string", "null"] } },
  required: ["age", "name"],
};
const clean = {
  type: "object",
  properties: {
    age: { type: "integer", description: "{minimum: 0}" },
    name: { type: ["string", "null"] },
  },
  additionalProperties: false,
  required: ["age", "name"],
};

describe.each(["chat", "responses", "generate_content"] as const)("a schema from %s", (caller) => {
  it("CONV-412: is sent, in the supported form, if the model's record says that it takes one", () => {
    const { body, notes } = routeOf(caller, bodyWith[caller](given), true);
    const description = caller === "generate_content" ? {} : { description: "An answer." };
    expect(body["output_config"]).toEqual({
      format: { type: "json_schema", schema: { ...clean, ...description } },
    });
    const detail = "schema keywords the upstream refuses went into descriptions: minimum";
    expect(notes).toEqual([{ param: formatName[caller][0], kind: "rewritten", detail }]);
  });

  it("CONV-412: is dropped and reported under each of its names if it cannot be expressed", () => {
    const { body, notes } = routeOf(caller, bodyWith[caller]({ type: "object" }), true);
    expect(body).not.toHaveProperty("output_config");
    expect(notes.map(({ param }) => param).sort()).toEqual(formatName[caller]);
    expect(notes.every(({ kind }) => kind === "dropped")).toBe(true);
  });

  it.each([undefined, false])("CONV-412: is dropped if the record says %s", (structured) => {
    const { body, notes } = routeOf(caller, bodyWith[caller](given), structured);
    expect(body).not.toHaveProperty("output_config");
    expect(notes.map(({ param }) => param).sort()).toEqual(formatName[caller]);
  });
});

it("CONV-412 CONV-413: an effort is sent together with a schema, and JSON output without a schema is dropped", () => {
  const both = routeOf("chat", { ...bodyWith.chat(given), reasoning_effort: "low" }, true);
  expect(both.body["output_config"]).toMatchObject({
    effort: "low",
    format: { type: "json_schema" },
  });
  const object = { ...bodyWith.chat(given), response_format: { type: "json_object" } };
  const { body, notes } = routeOf("chat", object, true);
  expect(body).not.toHaveProperty("output_config");
  expect(notes).toMatchObject([{ param: "response_format", kind: "dropped" }]);
});

const text: JsonObject = { type: "string" };
const object = (properties: JsonObject): JsonObject => ({
  type: "object",
  properties,
  additionalProperties: false,
});

it.each<[string, JsonObject, JsonObject, string[]]>([
  [
    "a list at the root",
    { type: "array", items: text, minItems: 1, maxItems: 3 },
    { type: "array", items: text, minItems: 1, description: "{maxItems: 3}" },
    ["maxItems"],
  ],
  [
    "an enum",
    { type: ["string", "null"], enum: ["a", null] },
    { type: ["string", "null"], enum: ["a", null] },
    [],
  ],
  [
    "an object that may be null",
    { ...object({ a: text }), type: ["object", "null"] },
    { anyOf: [object({ a: text }), { type: "null" }] },
    [],
  ],
  ["a constant", { const: 7, title: "Seven" }, { const: 7, title: "Seven" }, []],
  [
    "a known and an unknown format",
    object({ a: { ...text, format: "date" }, b: { ...text, format: "phone", pattern: "^1" } }),
    object({
      a: { ...text, format: "date" },
      b: { ...text, description: '{format: "phone", pattern: "^1"}' },
    }),
    ["format", "pattern"],
  ],
  [
    "a choice with a description",
    { oneOf: [text, { type: "null" }], description: "d", default: null },
    { anyOf: [text, { type: "null" }], description: "d\n\n{default: null}" },
    ["default"],
  ],
  [
    "definitions, and a description next to a reference",
    {
      ...object({
        a: { $ref: "#/definitions/a" },
        b: { $ref: "#/definitions/a", description: "d" },
      }),
      definitions: { a: text },
    },
    {
      ...object({
        a: { $ref: "#/$defs/a" },
        b: { anyOf: [{ $ref: "#/$defs/a" }], description: "d" },
      }),
      $defs: { a: text },
    },
    [],
  ],
  [
    "a definition used twice",
    {
      ...object({ a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }),
      $defs: { a: text, b: { allOf: [{ $ref: "#/$defs/a" }] } },
    },
    {
      ...object({ a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }),
      $defs: { a: text, b: { anyOf: [{ $ref: "#/$defs/a" }] } },
    },
    [],
  ],
])("CONV-412: converts %s", (_what, schema, cleaned, describedKeywords) => {
  expect(toAnswerSchema(schema)).toEqual({ schema: cleaned, describedKeywords });
});

it.each<[string, JsonObject]>([
  ["arbitrary member names", { type: "object", additionalProperties: text }],
  ["member names by pattern", { ...object({}), patternProperties: { "^a": text } }],
  ["any object", { type: "object" }],
  ["any value", object({ a: {} })],
  ["a list of anything", { type: "array" }],
  ["a tuple", { type: "array", items: text, prefixItems: [text] }],
  [
    "a circular reference",
    { ...object({ a: { $ref: "#/$defs/a" } }), $defs: { a: object({ a: { $ref: "#/$defs/a" } }) } },
  ],
  ["a reference elsewhere", { $ref: "https://example.com/a" }],
  ["a reference to the whole", object({ a: { $ref: "#" } })],
  [
    "a choice next to properties",
    { ...object({ a: text }), anyOf: [object({}), object({ b: text })] },
  ],
  ["several allOf parts", { allOf: [object({ a: text }), object({ b: text })] }],
  [
    "a reference to nothing in the definitions beside a second reference",
    {
      ...object({
        a: { $ref: "#/$defs/a" },
        b: { $ref: "#/$defs/a", $defs: { c: { $ref: "#/nowhere" } } },
      }),
      $defs: { a: text },
    },
  ],
  ["values that are objects", object({ a: { enum: [{}] } })],
])("CONV-412: cannot express %s", (_what, schema) => {
  expect(toAnswerSchema(schema)).toBeUndefined();
});

describe("CONV-412: a schema that would take long to clean", () => {
  it("is cleaned once if a type is listed twice on each level", () => {
    let schema: JsonObject = { type: "string" };
    for (let level = 0; level < 30; level += 1)
      schema = {
        type: ["object", "object", "array", "array"],
        properties: { a: schema },
        items: { type: "string" },
      };
    const started = performance.now();
    expect(toAnswerSchema(schema)).toBeDefined();
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it("is dropped without failure if it is a chain of as many references as a body may have", () => {
    const count = 9_999;
    const $defs: JsonObject = { [`a${count}`]: { type: "string" } };
    for (let index = 0; index < count; index += 1)
      $defs[`a${index}`] = { $ref: `#/$defs/a${index + 1}` };
    expect(toAnswerSchema({ $ref: "#/$defs/a0", $defs })).toBeUndefined();
  });
});

it.each([
  ["messages", "claude-sonnet-5-5"],
  ["generate_content", "gemini-3-pro"],
] as const)(
  "the label and strictness of a schema are omitted for %s and not reported as losses",
  (upstream, upstreamModel) => {
    const declaration = { name: "n", strict: true, schema: clean };
    const format = { type: "json_schema", json_schema: declaration };
    const { body, notes } = createRoute({
      ...callOf("chat", { ...bodyWith.chat(clean), response_format: format }, true),
      upstream: codecs[upstream],
      upstreamModel,
    });
    expect(notes).toEqual([]);
    expect(JSON.stringify(body)).not.toMatch(/"n"|strict/);
    expect(JSON.stringify(body)).toContain('"required":["age","name"]');
  },
);

/**
 * Tools with `strict` arguments, which OpenAI's agents request for all tools. Claude supports `strict` only for a part of JSON
 * Schema, and for a limited amount in one request. It refuses requests beyond that. CONV-113, CONV-409.
 */
import { describe, expect, it } from "vitest";
import { dialectRows } from "../../src/catalog/dialects.ts";
import { codecs, createRoute, type JsonObject } from "../../src/protocols/index.ts";
import { routeOf as routeTo } from "./route.ts";

const text: JsonObject = { type: "string" };
const closed = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const routeOf = (schemas: readonly (JsonObject | undefined)[], extra: JsonObject = {}) =>
  createRoute({
    caller: codecs.chat,
    upstream: codecs.messages,
    body: {
      model: "acme/talk",
      messages: [{ role: "user", content: "Hi" }],
      tools: schemas.map((parameters, index) => ({
        type: "function",
        function: { name: `f${index}`, strict: true, ...(parameters ? { parameters } : {}) },
      })),
      ...extra,
    },
    stream: false,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "claude-sonnet-5-5",
    maxOutputTokens: 1000,
    abilities: { structuredOutputs: true },
    inputEstimate: 1,
    id: "01abc",
    createdAt: 1,
  });
const toolsOf = (body: JsonObject) =>
  body["tools"] as { strict?: boolean; input_schema: JsonObject }[];
const lostStrict = { param: "tools.function.strict", kind: "dropped" };

it("a strict tool with a supported schema stays strict, and its schema is closed", () => {
  const open = { type: "object", properties: { a: text }, required: ["a"] };
  const { body, notes } = routeOf([closed({ a: text }), open, undefined]);
  expect(toolsOf(body)).toMatchObject([
    { strict: true, input_schema: closed({ a: text }) },
    { strict: true, input_schema: closed({ a: text }) },
    { strict: true, input_schema: { properties: {}, additionalProperties: false } },
  ]);
  expect(notes).toMatchObject([{ param: "tools", kind: "rewritten" }]);
  expect(routeOf([closed({ a: text }), undefined]).notes).toEqual([]);
});

it.each<[string, JsonObject]>([
  ["a numeric bound", closed({ a: { type: "integer", minimum: 1 } })],
  ["arbitrary member names", closed({ a: { type: "object", additionalProperties: text } })],
])("a strict tool with %s is sent unchanged but not strict, which is reported", (_what, schema) => {
  const { body, notes } = routeOf([schema, closed({ a: text })]);
  const [first, second] = toolsOf(body);
  expect(first).not.toHaveProperty("strict");
  expect(first!.input_schema).toEqual(schema);
  expect(second).toMatchObject({ strict: true });
  expect(notes).toMatchObject([lostStrict]);
});

describe("the limits of strict tools in one request", () => {
  const held = (body: JsonObject): number => toolsOf(body).filter(({ strict }) => strict).length;
  const nullable: JsonObject = { type: ["string", "null"] };
  const many = (count: number, property: JsonObject): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_one, index) => [`p${index}`, property]));

  it.each<[string, JsonObject[], number]>([
    ["20 tools", Array.from({ length: 23 }, () => closed({ a: text })), 20],
    ["24 optional members", Array.from({ length: 4 }, () => closed(many(10, text), [])), 2],
    ["16 values of several types", Array.from({ length: 3 }, () => closed(many(8, nullable))), 2],
  ])("keep the first tools strict and report the others: %s", (_what, schemas, count) => {
    const { body, notes } = routeOf(schemas);
    expect(toolsOf(body)).toHaveLength(schemas.length);
    expect(held(body)).toBe(count);
    expect(notes).toMatchObject([lostStrict]);
  });

  it("CONV-412: are used by tools first; the answer's schema is dropped if nothing is left", () => {
    const schema = closed(many(9, nullable));
    const format = { type: "json_schema", json_schema: { name: "n", schema } };
    const alone = routeOf([closed({ a: text })], { response_format: format });
    expect(alone.body).toHaveProperty("output_config.format");
    const { body, notes } = routeOf([schema], { response_format: format });
    expect(held(body)).toBe(1);
    expect(body).not.toHaveProperty("output_config");
    expect(notes).toMatchObject([{ param: "response_format", kind: "dropped" }]);
  });
});

describe("strict tools on Bedrock, where some models refuse them", () => {
  const sent = (dialect: keyof typeof dialectRows, abilities: object | undefined) => {
    const tools = [{ type: "function", function: { name: "f", strict: true } }];
    const body = { model: "acme/talk", messages: [{ role: "user", content: "Hi" }], tools };
    const { strictByRecord } = dialectRows[dialect];
    const route = routeTo("chat", "messages", body, { abilities, strictByRecord });
    return [toolsOf(route.body)[0]!.strict, route.notes.map(({ param }) => param)];
  };

  it.each([undefined, {}, { structuredOutputs: false }])(
    "CONV-409: lose strict, which is reported, if the model's record does not have it: %o",
    (abilities) => {
      expect(sent("bedrock", abilities)).toEqual([undefined, ["tools.function.strict"]]);
    },
  );

  it("CONV-409: stay strict if the model's record has it, and at other providers", () => {
    expect(sent("bedrock", { structuredOutputs: true })).toEqual([true, []]);
    expect(sent("anthropic", undefined)).toEqual([true, []]);
  });
});

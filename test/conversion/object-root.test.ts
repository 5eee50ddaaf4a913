/** Tool schemas whose root is not a single object: vendors refuse the whole request for one of them. T23, T24. */
import { describe, expect, it } from "vitest";
import {
  codecs,
  createRoute,
  upstreamCodecs,
  type JsonObject,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { newMergeBudget, objectRoot } from "../../src/protocols/object-root.ts";
import { leastCostMs } from "../support/cost.ts";
import { requestWith } from "./tool-wire.ts";

const text: JsonObject = { type: "string" };
const run: JsonObject = {
  type: "object",
  properties: { what: { const: "run" }, script: text },
  required: ["what", "script"],
  additionalProperties: false,
};
const stop: JsonObject = {
  type: "object",
  properties: { what: { const: "stop" }, id: text },
  required: ["what", "id"],
  additionalProperties: false,
};

/** Expects work of at most this much processor time, in milliseconds of the reference machine. */
const expectCost = async (work: () => unknown, mostMs: number): Promise<void> =>
  expect(await leastCostMs(work, mostMs)).toBeLessThan(mostMs);

const routeOf = (upstream: UpstreamProtocol, parameters: JsonObject) =>
  createRoute({
    caller: codecs.messages,
    upstream: upstreamCodecs[upstream],
    body: requestWith.messages("look", parameters),
    stream: false,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "talk-large",
    maxOutputTokens: 1000,
    inputEstimate: 1,
    id: "01abc",
    createdAt: 1,
  });

describe.each(["chat", "responses", "generate_content", "converse"] as const)(
  "a tool schema without a plain object root, towards %s",
  (upstream) => {
    it.each(["anyOf", "oneOf"])(
      "T23: is merged into one object if it is a choice by %s, which is reported",
      (keyword) => {
        const { body, notes } = routeOf(upstream, {
          description: "Does it.",
          [keyword]: [run, stop],
        });
        const sent = JSON.stringify(body);
        expect(sent).toContain('"script":{"type":"string"}');
        expect(sent).toContain('"id":{"type":"string"}');
        expect(sent).toContain('"required":["what"]');
        expect(sent).toMatch(/"what":\{"anyOf":\[\{"(?:const":"run"|enum":\["run"\])\},/);
        expect(sent).not.toContain(`"${keyword}":[{"type":"object"`);
        const [note, ...others] = notes;
        expect(note).toMatchObject({ param: "tools", kind: "rewritten" });
        expect(note?.detail).toContain(`by ${keyword} was merged`);
        expect(others).toEqual([]);
      },
    );

    it("T24: is refused before anything is sent if the arguments are not an object", () => {
      const list: JsonObject = { type: "array", items: text };
      const word: JsonObject = { type: ["string", "null"] };
      for (const schema of [list, word, { $ref: "#/$defs/list", $defs: { list } }])
        expect(() => routeOf(upstream, schema)).toThrow(
          /^tools cannot be converted .*: the schema of look's arguments must describe an object\. Change it, or/,
        );
    });
    it("T23 T24: is resolved at the root if it is a reference, without a report", () => {
      const { body, notes } = routeOf(upstream, {
        $ref: "#/definitions/alias",
        definitions: { alias: { $ref: "#/definitions/run" }, run },
      });
      expect(JSON.stringify(body)).toMatch(
        /\{"type":"object",(?:"definitions":\{.*\},)?(?:"additionalProperties":false,)?"properties":\{"what":/,
      );
      expect(JSON.stringify(body)).not.toContain('{"$ref":"#/definitions/alias"');
      expect(notes).toEqual([]);
    });
  },
);

it.each<[string, JsonObject, JsonObject, string[]]>([
  [
    "allOf parts, without loss",
    { allOf: [run, { properties: { id: text }, required: ["id"] }], description: "d" },
    {
      type: "object",
      description: "d",
      additionalProperties: false,
      properties: { ...(run["properties"] as JsonObject), id: text },
      required: ["what", "script", "id"],
    },
    [],
  ],
  [
    "a choice of what is required",
    {
      type: "object",
      properties: { a: text, b: text },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    { type: "object", properties: { a: text, b: text } },
    ["anyOf"],
  ],
  [
    "a property that the choice narrows",
    { type: "object", properties: { a: text }, oneOf: [{ properties: { a: { maxLength: 3 } } }] },
    { type: "object", properties: { a: { allOf: [text, { maxLength: 3 }] } } },
    [],
  ],
  [
    "references, circular references, and a schema that is not an object",
    {
      anyOf: [{ $ref: "#/$defs/run" }, { type: "null" }, { $ref: "#/$defs/again" }],
      $defs: { run, again: { anyOf: [{ $ref: "#/$defs/again" }] } },
    },
    {
      type: "object",
      $defs: { run, again: { anyOf: [{ $ref: "#/$defs/again" }] } },
      properties: run["properties"]!,
    },
    ["anyOf"],
  ],
  [
    "a reference to a reference, with keywords next to one",
    {
      allOf: [{ $ref: "#/$defs/alias", properties: { id: text }, required: ["id"] }],
      $defs: { alias: { $ref: "#/$defs/run" }, run },
    },
    {
      type: "object",
      $defs: { alias: { $ref: "#/$defs/run" }, run },
      additionalProperties: false,
      properties: { id: text, ...(run["properties"] as JsonObject) },
      required: ["id", "what", "script"],
    },
    [],
  ],
  [
    "a reference to another document, whose content is unknown",
    { anyOf: [{ $ref: "https://acme.test/stop.json" }, run] },
    { type: "object", properties: run["properties"]! },
    ["anyOf"],
  ],
  [
    "a root that refers to an object with members like it",
    { $ref: "#/$defs/node", $defs: { node: { ...run, properties: { next: { $ref: "#" } } } } },
    {
      type: "object",
      $defs: { node: { ...run, properties: { next: { $ref: "#" } } } },
      properties: { next: { $ref: "#" } },
      required: run["required"]!,
      additionalProperties: false,
    },
    [],
  ],
  [
    "a root that refers to another document",
    { $ref: "https://acme.test/stop.json" },
    { $ref: "https://acme.test/stop.json", properties: {} },
    [],
  ],
  [
    "a choice of one object, without loss",
    { anyOf: [{ type: "null" }, { type: "object", additionalProperties: text, minProperties: 1 }] },
    { type: "object", properties: {}, additionalProperties: text, minProperties: 1 },
    [],
  ],
  [
    "an object that may be null",
    { type: ["object", "null"] },
    { type: "object", properties: {} },
    [],
  ],
])("a schema root is merged: %s", (_what, schema, merged, lost) => {
  const root = objectRoot(schema);
  expect(root).toMatchObject({ lost, schema: expect.anything() });
  const { schema: is } = root as { readonly schema: JsonObject };
  expect({ properties: {}, ...is }).toEqual(merged);
});

describe("T23: a schema that expands endlessly", () => {
  const refs = (name: string, count: number) =>
    Array.from({ length: count }, () => ({ $ref: `#/$defs/${name}` }));
  const names = Array.from({ length: 5_000 }, (_one, index) => `p${index}`);
  const wide = {
    properties: Object.fromEntries(names.map((name) => [name, text])),
    required: names,
  };
  const levels = (count: number, width: number): JsonObject =>
    Object.fromEntries(
      Array.from({ length: count }, (_one, level) => [
        `l${level}`,
        { anyOf: refs(`l${level + 1}`, width) },
      ]),
    );

  it.each<[string, JsonObject]>([
    ["lists of references in lists of references", { anyOf: refs("l0", 2), $defs: levels(60, 2) }],
    ["references one after the other", { anyOf: refs("l0", 1), $defs: levels(5_000, 1) }],
    ["many references to many properties", { anyOf: refs("wide", 2_000), $defs: { wide } }],
    ["allOf parts with many properties", { allOf: refs("wide", 2_000), $defs: { wide } }],
    [
      "many references to a long one",
      { oneOf: refs("p", 5_000), $defs: { p: { properties: { p: { title: "x".repeat(1e6) } } } } },
    ],
    [
      "a long reference, many times",
      { anyOf: refs("a", 5_000), $defs: { a: { anyOf: [{ $ref: `#/${"x/".repeat(5e5)}` }] } } },
    ],
  ])("is merged within 500 ms: %s", async (_what, schema) => {
    await expectCost(() => objectRoot(schema), 500);
  });

  it("is limited over all tools of a request together", async () => {
    const schema = { anyOf: refs("l0", 2), $defs: levels(60, 2) };
    let bounds = newMergeBudget();
    await expectCost(() => {
      bounds = newMergeBudget();
      return Array.from({ length: 500 }, () => objectRoot(schema, bounds));
    }, 2_000);
    expect(objectRoot(run, bounds)).toBe("too_large");
  });
});

describe("T23: a schema that would take long to merge", () => {
  const names = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const texts = (all: readonly string[]): JsonObject =>
    Object.fromEntries(all.map((name) => [name, text]));
  const long: JsonObject = { type: "string", description: "x".repeat(500_000) };
  const level = (index: number): JsonObject => {
    const next = { $ref: `#/$defs/l${index + 1}` };
    return { anyOf: [next, next] };
  };

  it.each<[string, JsonObject]>([
    [
      "lists of references in lists of references",
      {
        $ref: "#/$defs/l0",
        anyOf: [{ $ref: "#/$defs/l0" }],
        $defs: Object.fromEntries(names("l", 60).map((name, index) => [name, level(index)])),
      },
    ],
    [
      "a long property in many combinations",
      {
        $defs: { long: { properties: { a: long } } },
        anyOf: names("", 50).map((title): JsonObject => ({
          allOf: [{ $ref: "#/$defs/long" }, { properties: { a: { title } } }],
        })),
      },
    ],
    [
      "one large object many times",
      {
        $defs: { large: { properties: texts(names("a", 9_000)) } },
        anyOf: names("", 500).map((title): JsonObject => ({
          title,
          allOf: [{ $ref: "#/$defs/large" }],
        })),
      },
    ],
  ])("is refused: %s", async (_what, schema) => {
    await expectCost(() => {
      expect(objectRoot(schema)).toBe("too_large");
      expect(() => routeOf("chat", schema)).toThrow(
        /^tools cannot be converted .*: the schema of look's arguments is too large to be merged into one object\./,
      );
    }, 2_000);
  });

  it.each<[string, JsonObject]>([
    [
      "many required names",
      {
        anyOf: [
          { properties: {}, required: names("a", 20_000) },
          { properties: {}, required: names("a", 20_000).reverse() },
        ],
      },
    ],
    [
      "many allOf parts",
      { allOf: names("a", 900).map((name) => ({ properties: texts(names(name, 20)) })) },
    ],
  ])("is merged within two seconds: %s", async (_what, schema) => {
    await expectCost(
      () => expect(objectRoot(schema)).toMatchObject({ schema: { type: "object" } }),
      2_000,
    );
  });
});

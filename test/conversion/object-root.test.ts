/** Schemas of tools that do not begin with one object: vendors refuse the whole request for one of them. T23, T24. */
import { describe, expect, it } from "vitest";
import {
  codecs,
  createRoute,
  upstreamCodecs,
  type JsonObject,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { objectRoot } from "../../src/protocols/object-root.ts";
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
  "towards %s",
  (upstream) => {
    it.each(["anyOf", "oneOf"])(
      "T23: a choice by %s becomes one object, which is told",
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

    it("T24: arguments that are no object are refused before anything is sent", () => {
      for (const type of ["array", ["string", "null"]])
        expect(() => routeOf(upstream, { type, items: text })).toThrow(
          /^tools: look, whose arguments are no object, cannot be converted/,
        );
    });
  },
);

it.each<[string, JsonObject, JsonObject, string[]]>([
  [
    "parts that all hold, of which nothing is lost",
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
    "references, those in a circle too, and what is no object",
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
    "an object that may be null",
    { type: ["object", "null"] },
    { type: "object", properties: {} },
    [],
  ],
])("%s", (_what, schema, merged, lost) => {
  const { schema: is, lost: told } = objectRoot(schema)!;
  expect({ properties: {}, ...is }).toEqual(merged);
  expect(told).toEqual(lost);
});

it("T23: lists of references in lists of references end", () => {
  const $defs: JsonObject = {};
  for (let level = 0; level < 60; level += 1) {
    const next = { $ref: `#/$defs/l${level + 1}` };
    $defs[`l${level}`] = { anyOf: [next, next] };
  }
  const started = performance.now();
  expect(objectRoot({ $ref: "#/$defs/l0", anyOf: [{ $ref: "#/$defs/l0" }], $defs })).toBeDefined();
  expect(performance.now() - started).toBeLessThan(2_000);
});

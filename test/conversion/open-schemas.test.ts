/**
 * Schemas that are too open for OpenAI, such as those of MCP servers: tools without arguments, arrays without `items`. OpenAI
 * refuses the whole request for one of them. T23, T24.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/index.ts";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import { requestWith } from "./tool-wire.ts";

const placeOf = {
  chat: {
    tool: ["tools", 0, "function", "parameters"],
    answer: ["response_format", "json_schema", "schema"],
  },
  responses: { tool: ["tools", 0, "parameters"], answer: ["text", "format", "schema"] },
} as const;
const callers = ["messages", "generate_content"] as const;
const text: JsonObject = { type: "string" };

/** Arrays without `items` at every place of a schema, and a property with that name. */
const open: JsonObject = {
  type: "object",
  properties: {
    type: { type: "array", description: "Kinds." },
    either: { anyOf: [{ type: "array" }, { type: "null" }] },
    maybe: { type: ["array", "null"] },
    rows: { type: "array", items: { type: "array" } },
    pair: { type: "array", prefixItems: [text] },
    words: { type: "array", items: text },
    any: { type: "object" },
    example: { ...text, examples: [{ type: "array" }] },
  },
};
const closed: JsonObject = {
  type: "object",
  properties: {
    type: { type: "array", description: "Kinds.", items: {} },
    either: { anyOf: [{ type: "array", items: {} }, { type: "null" }] },
    maybe: { type: ["array", "null"], items: {} },
    rows: { type: "array", items: { type: "array", items: {} } },
    pair: { type: "array", prefixItems: [text], items: {} },
    words: { type: "array", items: text },
    any: { type: "object" },
    example: { ...text, examples: [{ type: "array" }] },
  },
};

describe.each(["chat", "responses"] as const)("an open tool schema towards %s", (upstream) => {
  it.each(callers)("T24: gets empty properties if the tool has no arguments (%s)", (caller) => {
    const { body, notes } = routeOf(
      caller,
      upstream,
      requestWith[caller]("look", { type: "object" }),
    );
    expect(at(body, ...placeOf[upstream].tool)).toEqual({ type: "object", properties: {} });
    expect(notes).toEqual([]);
  });

  it.each(callers)("T23: gets empty items for arrays, without a report (%s)", (caller) => {
    const { body, notes } = routeOf(caller, upstream, requestWith[caller]("look", open));
    expect(at(body, ...placeOf[upstream].tool)).toEqual(closed);
    expect(notes).toEqual([]);
  });

  it("T23: is completed like the schema of an answer", () => {
    const asked = (responseJsonSchema: JsonObject) =>
      routeOf("generate_content", upstream, {
        contents: [{ role: "user", parts: [{ text: "As JSON." }] }],
        generationConfig: { responseMimeType: "application/json", responseJsonSchema },
      });
    expect(at(asked(open).body, ...placeOf[upstream].answer)).toEqual(closed);
    expect(asked(open).notes).toEqual([]);
    expect(at(asked({ type: "array" }).body, ...placeOf[upstream].answer)).toMatchObject({
      properties: { answer: { type: "array", items: {} } },
    });
  });
});

it("T23: an open schema is unchanged towards vendors that take it", () => {
  const { body } = routeOf("chat", "messages", requestWith.chat("look", open));
  expect(at(body, "tools", 0, "input_schema")).toEqual(open);
});

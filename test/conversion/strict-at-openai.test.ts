/** Strict tools with schemas that OpenAI refuses with `strict`, but Claude accepts. Requirements: TXT-14; trap T23. */
import { describe, expect, it } from "vitest";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import { user } from "./world.ts";

const text = { type: "string" };
const closed = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** Returns whether the tool is sent as strict, and the parameters reported to the caller. */
function sent(to: "chat" | "responses", input_schema: object) {
  const tools = [{ name: "look", strict: true, input_schema }];
  const said = { model: "acme/x", max_tokens: 50, ...user("Hi"), tools };
  const { body, notes } = routeOf("messages", to, said);
  const tool = at(body, "tools", 0);
  return {
    strict: at(to === "chat" ? at(tool, "function") : tool, "strict"),
    reported: notes.map(({ param }) => param),
  };
}

const point = closed({ x: text }, ["x"]);
const accepted = {
  "an object of required members": closed({ a: text, b: text }, ["a", "b"]),
  "objects within it": closed({ a: point, b: { type: "array", items: point } }, ["a", "b"]),
  "a choice": closed({ a: { anyOf: [point, { type: "null" }] } }, ["a"]),
  "a reference": { ...closed({ a: { $ref: "#/$defs/p" } }, ["a"]), $defs: { p: point } },
  "members named like keywords": closed({ allOf: text, not: text }, ["allOf", "not"]),
  "a format that both know": closed({ a: { ...text, format: "email" } }, ["a"]),
};
const refused = {
  "a member that is not required": closed({ a: text, b: text }, ["a"]),
  "an open object": { type: "object", properties: { a: text }, required: ["a"] },
  "an open object in a list": closed({ a: { type: "array", items: { type: "object" } } }, ["a"]),
  "an open definition": {
    ...closed({ a: { $ref: "#/$defs/p" } }, ["a"]),
    $defs: { p: { type: "object", properties: { x: text } } },
  },
  "a map": closed({ a: { type: "object", additionalProperties: text } }, ["a"]),
  "a member of several schemas": closed({ a: { allOf: [point] } }, ["a"]),
  "a format that only Claude knows": closed({ a: { ...text, format: "uri" } }, ["a"]),
  "members that need each other": {
    ...closed({ a: text, b: text }, ["a", "b"]),
    dependentRequired: { a: ["b"] },
  },
};

describe.each(["chat", "responses"] as const)("a strict tool from messages towards %s", (to) => {
  it.each(Object.entries(accepted))("stays strict with %s", (_what, schema) => {
    expect(sent(to, schema)).toEqual({ strict: true, reported: [] });
  });

  it.each(Object.entries(refused))(
    "T23 TXT-14: loses strict with %s, which is reported",
    (_what, schema) => {
      const { strict, reported } = sent(to, schema);
      expect([strict ?? false, reported]).toEqual([false, ["tools.strict"]]);
    },
  );
});

it("a chat caller's strict tool is sent unchanged; the vendor judges its schema", () => {
  const parameters = { type: "object", properties: { a: text } };
  const tools = [{ type: "function", function: { name: "look", strict: true, parameters } }];
  const { body, notes } = routeOf("chat", "responses", { model: "acme/x", ...user("Hi"), tools });
  expect([at(body, "tools", 0, "strict"), notes]).toEqual([true, []]);
});

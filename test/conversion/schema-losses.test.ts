// JSON Schemas towards generateContent: keywords that the vendor refuses are removed and reported.
import { describe, expect, it } from "vitest";
import {
  codecs,
  createRoute,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { schemaLosses } from "../../src/protocols/generate-content/schema.ts";
import { at } from "../rows/protocols.ts";
import { costMs } from "../support/cost.ts";
import { requestWith } from "./tool-wire.ts";

const routeOf = (caller: ProtocolName, upstream: ProtocolName, body: JsonObject) =>
  createRoute({
    caller: codecs[caller],
    upstream: codecs[upstream],
    body,
    stream: false,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "gemini-3.1-pro",
    maxOutputTokens: 1000,
    inputEstimate: 1,
    id: "01abc",
    createdAt: 1,
  });

const refused: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $comment: "the vendor reads none of these",
  type: "object",
  properties: {
    tags: { type: "array", uniqueItems: true, items: { type: "string", enumDescriptions: ["x"] } },
    place: { $ref: "#/$defs/place" },
  },
  propertyNames: { pattern: "^[a-z]+$" },
  $defs: { place: { type: "string" } },
};
const keywords = "$comment, $schema, enumDescriptions, propertyNames, uniqueItems";
const detail = `schema keywords the upstream refuses left out: ${keywords}`;
const clean: JsonObject = { type: "object", properties: { place: { type: "string" } } };

describe("the notes about lost schema keywords", () => {
  it.each(["chat", "responses", "messages"] as const)(
    "T23: name the keywords of a tool's schema under tools: %s",
    (caller) => {
      const route = routeOf(caller, "generate_content", requestWith[caller]("look", refused));
      expect(route.notes).toEqual([{ param: "tools", kind: "rewritten", detail }]);
      const sent = JSON.stringify(route.body);
      expect(sent).not.toMatch(/\$|enumDescriptions|propertyNames|uniqueItems/);
      expect(sent).toContain('"place":{"type":"string"}');
    },
  );

  it("T23: name the keywords of an answer's schema under the caller's name of the format", () => {
    const messages = [{ role: "user", content: "Hi" }];
    const format = { name: "n", schema: refused };
    const chat = routeOf("chat", "generate_content", {
      model: "m",
      messages,
      response_format: { type: "json_schema", json_schema: format },
    });
    expect(chat.notes).toEqual([{ param: "response_format", kind: "rewritten", detail }]);
    const responses = routeOf("responses", "generate_content", {
      model: "m",
      input: messages,
      text: { format: { type: "json_schema", ...format } },
    });
    expect(responses.notes).toEqual([{ param: "text.format", kind: "rewritten", detail }]);
  });

  it("are absent for a schema without losses, and for vendors that take all keywords", () => {
    const whole = routeOf("chat", "generate_content", requestWith.chat("look", clean));
    expect(whole.notes).toEqual([]);
    for (const upstream of ["responses", "messages"] as const) {
      const route = routeOf("chat", upstream, requestWith.chat("look", refused));
      expect(route.notes).toEqual([]);
      expect(JSON.stringify(route.body)).toContain("uniqueItems");
    }
  });

  it("list at most a dozen keywords", () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-${index}`, 1]));
    const body = requestWith.chat("look", { type: "object", ...many });
    const [note] = routeOf("chat", "generate_content", body).notes;
    expect(note!.detail).toMatch(/: (x-\d+, ){12}\.\.\.$/);
  });
});

describe("the loss of a schema", () => {
  const cases: [what: string, schema: JsonObject, losses: string[]][] = [
    [
      "is empty if definitions are inlined",
      { $ref: "#/$defs/a", $defs: { a: { type: "string" } } },
      [],
    ],
    ["is empty if a constant becomes the only enum value", { const: 1 }, []],
    [
      "is empty if allOf parts do not conflict",
      { allOf: [{ minimum: 1 }, { maximum: 2 }], title: "t" },
      [],
    ],
    [
      "includes allOf parts that contradict each other",
      { allOf: [{ minimum: 1 }, { minimum: 2 }] },
      ["allOf"],
    ],
    [
      "includes allOf parts that define the same property",
      {
        allOf: [{ properties: { a: { type: "string" } } }, { properties: { a: { minLength: 1 } } }],
      },
      ["allOf"],
    ],
    ["includes a reference without a target", { $ref: "#/$defs/none" }, ["$ref"]],
    ["includes a reference to another document", { $ref: "https://example.com/schema" }, ["$ref"]],
    [
      "includes a circular reference",
      { $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#/$defs/a" } } } },
      ["$ref"],
    ],
    [
      "includes conditions",
      { if: {}, dependentRequired: {}, not: {} },
      ["dependentRequired", "if", "not"],
    ],
    [
      "does not include a property with the name of a keyword",
      { properties: { uniqueItems: { type: "string" } } },
      [],
    ],
  ];
  it.each(cases)("T23: %s", (_what, schema, losses) => {
    expect(schemaLosses([schema])).toEqual(losses);
  });

  it("T23: does not include a reference next to allOf: both are kept", () => {
    const parameters: JsonObject = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a", allOf: [{ maxLength: 3 }] } },
      $defs: { a: { type: "string" } },
    };
    const { body } = routeOf("chat", "generate_content", requestWith.chat("look", parameters));
    expect(JSON.stringify(body)).toContain('"a":{"type":"string","maxLength":3}');
  });
});

describe("a schema that the vendor refuses although it knows its keywords", () => {
  const sent = (schema: JsonObject) => {
    const { body, notes } = routeOf("chat", "generate_content", requestWith.chat("look", schema));
    expect(notes).toEqual([]);
    return (at(body, "tools", 0, "functionDeclarations", 0) as JsonObject)["parametersJsonSchema"];
  };
  const text = { type: "string" };

  it("T23: has a schema for every required property", () => {
    const inner = { type: "object", required: ["c", "__proto__"] };
    const properties = { a: text, inner };
    expect(sent({ type: "object", properties, required: ["a", "ref"] })).toEqual({
      type: "object",
      properties: {
        a: text,
        inner: {
          ...inner,
          properties: Object.fromEntries([
            ["c", {}],
            ["__proto__", {}],
          ]),
        },
        ref: {},
      },
      required: ["a", "ref"],
    });
  });

  it("T23: has no `false` in place of the schema of what follows in a list", () => {
    const pair = { type: "array", prefixItems: [text, text] };
    const closed = { ...pair, items: false };
    const properties = {
      pair: closed,
      longer: { ...closed, maxItems: 5 },
      one: { ...closed, maxItems: 1 },
    };
    expect(sent({ type: "object", properties })).toEqual({
      type: "object",
      properties: {
        pair: { ...pair, maxItems: 2 },
        longer: { ...pair, maxItems: 2 },
        one: { ...pair, maxItems: 1 },
      },
    });
  });

  it("T23: has no `true` in place of a schema", () => {
    const list = { type: "array", items: true, prefixItems: [true, text] };
    const open = { type: "object", additionalProperties: true };
    expect(sent({ type: "object", properties: { any: true, list, open } })).toEqual({
      type: "object",
      properties: { any: {}, list: { type: "array", items: {}, prefixItems: [{}, text] }, open },
    });
  });
});

/** Arrays of references to arrays of references: each level multiplies the expansion by `width`. */
function expandingSchema(width: number, depth: number, isShared: boolean): JsonObject {
  const name = (level: number, at: number) => (isShared ? `d${level}` : `d${level}_${at}`);
  const defs: JsonObject = {};
  for (let level = 0; level <= depth; level += 1) {
    for (let at = 0; at < (isShared ? 1 : width); at += 1) {
      const refs = Array.from({ length: width }, (_, to) => ({
        $ref: `#/$defs/${name(level + 1, to)}`,
      }));
      defs[name(level, at)] =
        level === depth ? { properties: { x: { type: "string" } } } : { allOf: refs };
    }
  }
  return { type: "object", allOf: [{ $ref: `#/$defs/${name(0, 0)}` }], $defs: defs };
}

const values = Array.from({ length: 20_000 }, (_, index) => `value ${index}`);
const thousandRefs = (modulus: number) =>
  Array.from({ length: 1_000 }, (_, index) => ({ $ref: `#/$defs/e${index % modulus}` }));
const chain = Object.fromEntries(
  Array.from({ length: 9_000 }, (_, index) => [`c${index}`, { $ref: `#/$defs/c${index + 1}` }]),
);

it.each(["toString", "constructor", "__proto__", "hasOwnProperty"])(
  "T23: a keyword named %s, which every object inherits, is left out of a merged schema",
  (keyword) => {
    const own = JSON.parse(`{ "${keyword}": 1 }`) as JsonObject;
    const place: JsonObject = { type: "object", properties: { x: { type: "string" } } };
    const parameters = {
      type: "object",
      properties: { all: { allOf: [own, place] }, one: { $ref: "#/$defs/place", ...own } },
      $defs: { place },
    };
    const { body } = routeOf("chat", "generate_content", requestWith.chat("look", parameters));
    expect(body).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            {
              parametersJsonSchema: { type: "object", properties: { all: place, one: place } },
            },
          ],
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain(keyword);
  },
);

describe("a schema that is built to expand endlessly", () => {
  const schemas: [what: string, schema: JsonObject, losses: string[]][] = [
    ["the same references in lists of lists", expandingSchema(60, 4, true), []],
    ["different references in lists of lists", expandingSchema(20, 4, false), ["$ref"]],
    [
      "a long list of names again and again",
      {
        allOf: thousandRefs(2),
        $defs: { e0: { required: values }, e1: { required: [...values] } },
      },
      ["$ref"],
    ],
    [
      "a long list of values again and again",
      { allOf: thousandRefs(2), $defs: { e0: { enum: values }, e1: { enum: [...values] } } },
      ["$ref"],
    ],
    [
      "many members again and again",
      {
        allOf: thousandRefs(1),
        $defs: { e0: Object.fromEntries(values.slice(0, 9_000).map((name) => [name, 1])) },
      },
      ["$ref"],
    ],
    ["a chain of references", { $ref: "#/$defs/c0", $defs: chain }, ["$ref"]],
    [
      "a reference of a megabyte in each of many members",
      {
        properties: Object.fromEntries(
          Array.from({ length: 9_000 }, (_, index) => [`p${index}`, { $ref: "#/$defs/long" }]),
        ),
        $defs: { long: { $ref: `#${"/a".repeat(500_000)}` } },
      },
      ["$ref"],
    ],
  ];
  it.each(schemas)(
    "T23: is checked within 700 ms, and its losses are reported: %s",
    async (_what, schema, losses) => {
      let found: string[] = [];
      const ms = await costMs(() => (found = schemaLosses([schema])));
      expect(found.filter((keyword) => losses.includes(keyword))).toEqual(losses);
      // An earlier version took a minute for the first schema, of four kilobytes.
      expect(ms).toBeLessThan(700);
    },
  );

  it("T23: is limited in time and size over hundreds of tools", async () => {
    const defs: JsonObject = { d13: { type: "string" } };
    for (let level = 0; level < 13; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      defs[`d${level}`] = { anyOf: [next, next] };
    }
    const parameters = {
      type: "object",
      properties: { a: { $ref: "#/$defs/d0" } },
      $defs: defs,
    };
    const plain = { type: "object", properties: { b: { type: "string" } } };
    const tools = [...Array.from({ length: 500 }, () => parameters), plain].map(
      (schema, index) => ({
        type: "function",
        function: { name: `t${index}`, parameters: schema },
      }),
    );
    const request = { ...requestWith.chat("look", {}), tools };
    let sent = "";
    const ms = await costMs(
      () => (sent = JSON.stringify(routeOf("chat", "generate_content", request).body)),
    );
    // An earlier version took four seconds, and made twenty megabytes of half a megabyte.
    expect(ms).toBeLessThan(1_000);
    expect(sent.length).toBeLessThan(2_000_000);
    // A tool without references stays unchanged, after all the others.
    expect(sent).toContain(JSON.stringify({ name: "t500", parametersJsonSchema: plain }));
  });
});

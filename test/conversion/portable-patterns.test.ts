/**
 * Regular expressions that only some engines read, as the tools of Claude Code 2.1.266 and zod's `email()` have them. OpenAI, DeepSeek and
 * Z.AI refuse the whole request for one of them: "Invalid schema for function 'Artifact': '...' is not a 'regex'." T23.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/index.ts";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import { requestWith } from "./tool-wire.ts";

const text: JsonObject = { type: "string" };
const field = String.raw`^(?!__.*__$)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}"\\./[\]]{1,200}$`;
const contract = String.raw`^(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,5})$`;
const email = String.raw`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`;

/** Members of Claude Code's tool Artifact, and two of zod's. */
const artifact: JsonObject = {
  type: "object",
  properties: {
    field: { ...text, description: "A name.", pattern: field },
    file_paths: { type: "array", items: { ...text, pattern: String.raw`^[^\0]*$` } },
    contract: { ...text, pattern: contract },
    pattern: { ...text, format: "email", pattern: email },
    labels: {
      type: "object",
      properties: {},
      patternProperties: { "^x-": text, "^(?!y)": text },
      additionalProperties: false,
    },
  },
  required: ["field"],
};
const described: JsonObject = {
  type: "object",
  properties: {
    field: { ...text, description: `A name.\n\n{pattern: ${JSON.stringify(field)}}` },
    file_paths: {
      type: "array",
      items: { ...text, description: String.raw`{pattern: "^[^\\0]*$"}` },
    },
    contract: { ...text, pattern: contract },
    pattern: { ...text, format: "email", description: `{pattern: ${JSON.stringify(email)}}` },
    labels: {
      type: "object",
      properties: {},
      patternProperties: { "^x-": text },
      description: '{patternProperties: ["^(?!y)"]}',
    },
  },
  required: ["field"],
};
const detail = "patterns that upstreams refuse went into descriptions: only some engines read them";

const placeOf = {
  chat: {
    tool: ["tools", 0, "function", "parameters"],
    answer: ["response_format", "json_schema", "schema"],
  },
  responses: { tool: ["tools", 0, "parameters"], answer: ["text", "format", "schema"] },
} as const;

describe.each(["chat", "responses"] as const)("a schema with patterns towards %s", (upstream) => {
  it.each(["messages", "generate_content"] as const)(
    "T23: has those of one engine in descriptions, which is reported (%s)",
    (caller) => {
      const { body, notes } = routeOf(caller, upstream, requestWith[caller]("look", artifact));
      expect(at(body, ...placeOf[upstream].tool)).toEqual(described);
      expect(notes).toEqual([{ param: "tools", kind: "rewritten", detail }]);
    },
  );

  it("T23: has them in descriptions if it is that of an answer", () => {
    const asked = (schema: JsonObject) =>
      routeOf("generate_content", upstream, {
        contents: [{ role: "user", parts: [{ text: "As JSON." }] }],
        generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
      });
    const { body, notes } = asked(artifact);
    expect(at(body, ...placeOf[upstream].answer)).toEqual(described);
    expect(notes).toMatchObject([{ kind: "rewritten", detail }]);
    expect(asked({ type: "object", properties: { contract: text } }).notes).toEqual([]);
  });
});

describe("a tool with patterns in the messages protocol", () => {
  const sent = (upstreamModel: string) =>
    routeOf("messages", "messages", requestWith.messages("look", artifact), { upstreamModel });

  it("T23: is unchanged for Claude, which reads them all", () => {
    const { body, notes } = sent("claude-opus-5");
    expect(at(body, "tools", 0, "input_schema")).toEqual(artifact);
    expect(notes).toEqual([]);
  });

  it("T23: has them in descriptions for models of other vendors, which is reported", () => {
    const { body, notes } = sent("glm-5.3");
    expect(at(body, "tools", 0, "input_schema")).toEqual(described);
    expect(notes).toEqual([{ param: "tools", kind: "rewritten", detail }]);
  });
});

describe("a pattern", () => {
  const keeps = (pattern: string): boolean => {
    const schema = { type: "object", properties: { a: { ...text, pattern } } };
    const { body } = routeOf("messages", "chat", requestWith.messages("look", schema));
    return at(body, "tools", 0, "function", "parameters", "properties", "a", "pattern") === pattern;
  };

  it.each([
    "^[a-z]+$",
    String.raw`^\d{4}-\d{2}-\d{2}$`,
    String.raw`^[\w.-]+@[-\w]+\.[A-Za-z]{2,}?$`,
    String.raw`^(?:a|b)*\/\x41\u00e9[^\]\-\[\s]$`,
    String.raw`[-\d][^-\w][-]\\[-\s]`,
    String.raw`\bzürich\b 東京|`,
    "",
  ])("T23: %j stays, because all engines read it alike", (pattern) => {
    expect(keeps(pattern)).toBe(true);
  });

  it.each([
    "(?=a)", // lookaround
    "(?<!a)b",
    "(?<year>a)", // names
    "(?P<year>a)",
    "(?i)a", // flags
    String.raw`\p{L}`, // properties
    String.raw`\u{41}`,
    String.raw`\ud83d`, // half of a pair
    String.raw`(a)\1`, // earlier groups
    String.raw`\0`,
    String.raw`\Aa\z`,
    String.raw`\<b\>`, // the ends of a word for Rust
    String.raw`^[^\<\>]*$`,
    String.raw`[\w-.]`, // ranges of classes
    String.raw`[.-\w]`,
    String.raw`[\[-\d]`,
    "[[:alpha:]]", // classes in classes
    "[a&&b]",
    "[a--b]",
    "[]a]",
    "[^]",
    "a{,3}",
    "a{b",
    "a**", // errors
    "(a",
    "[z-a]",
  ])("T23: %j becomes part of the description", (pattern) => {
    expect(keeps(pattern)).toBe(false);
  });

  it("T23: becomes part of the description if it has more than 10,000 characters", () => {
    expect(keeps("a".repeat(10_001))).toBe(false);
  });
});

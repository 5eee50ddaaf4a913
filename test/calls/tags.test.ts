/** The tags and the end user that a call gives in its body and headers, for later searches. docs/tags.md. */
import { describe, expect, it } from "vitest";
import { tagsOf } from "../../src/calls/tags.ts";

const none = { tags: undefined, endUser: undefined };
const header = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const many = (count: number, prefix = "t") =>
  Object.fromEntries(Array.from({ length: count }, (_one, at) => [`${prefix}${at}`, "v"]));

describe("the fields of each protocol", () => {
  it.each<[protocol: string, body: object, tags: object | undefined, endUser: string | undefined]>([
    ["chat", { metadata: { team: "a" }, safety_identifier: "s", user: "u" }, { team: "a" }, "s"],
    ["chat", { user: "u" }, undefined, "u"],
    ["responses", { metadata: { team: "a" }, user: "u" }, { team: "a" }, "u"],
    ["messages", { metadata: { user_id: "u", team: "a" }, user: "x" }, undefined, "u"],
    ["messages", { metadata: "u" }, undefined, undefined],
    ["generate_content", { labels: { team: "a" }, user: "x" }, { team: "a" }, undefined],
    ["embeddings", { user: "u", metadata: { team: "a" } }, undefined, "u"],
    ["images", { user: "u" }, undefined, "u"],
    ["tasks", { user: "u" }, undefined, "u"],
    ["another", { user: "u", metadata: { team: "a" } }, undefined, undefined],
  ])("set the tags and the end user for %s %j", (protocol, body, tags, endUser) => {
    expect(tagsOf(protocol, body as Record<string, unknown>, {})).toEqual({ tags, endUser });
  });
});

it("names in a header are read as written, whatever names earlier headers had", () => {
  const named = (name: string) => {
    const metadata = `{"team":"1","${name}":"x"}`;
    return Object.keys(tagsOf("chat", {}, { metadata }).tags!);
  };
  expect(named(String.raw`\\`)).toEqual(["team", "\\"]);
  expect(named(String.raw`\n`)).toEqual(["team", "\n"]);
  expect(named(String.raw`\\u00f`)).toEqual(["team", String.raw`\u00f`]);
  expect(named(String.raw`\u00f6ffentlich`)).toEqual(["team", "öffentlich"]);
});

it("a body's tags that are not short text are skipped, and at most sixteen pairs are taken", () => {
  const metadata = {
    number: 1,
    long: "x".repeat(513),
    "": "empty name",
    nul: "a",
    "a\0b": "v",
    kept: "x".repeat(512),
  };
  expect(tagsOf("chat", { metadata, user: "" }, {})).toEqual({
    tags: { nul: "a", kept: metadata.kept },
    endUser: undefined,
  });
  expect(tagsOf("chat", { metadata: many(20) }, {}).tags).toEqual(many(16));
  expect(tagsOf("chat", { metadata: ["a"], user: 7 }, {})).toEqual(none);
  expect(tagsOf("chat", { user: "x".repeat(257) }, {})).toEqual(none);
});

it("a header takes precedence over the same field of the body, and its bytes are UTF-8", () => {
  const body = { metadata: { team: "a", stage: "test" }, user: "u" };
  const headers = { metadata: header('{"team":"süd"}'), endUser: header("häkon") };
  expect(tagsOf("chat", body, headers)).toEqual({
    tags: { team: "süd", stage: "test" },
    endUser: "häkon",
  });
  expect(tagsOf("chat", body, { endUser: "" }).endUser).toBe("u");
  const both = tagsOf("chat", { metadata: many(10) }, { metadata: JSON.stringify(many(10, "h")) });
  expect(Object.keys(both.tags!)).toEqual(Object.keys({ ...many(10, "h"), ...many(6) }));
  expect(tagsOf("another", {}, headers).tags).toEqual({ team: "süd" });
});

it.each([
  ["no JSON", "team=a"],
  ["no object", '["a"]'],
  ["another value than text", '{"team":1}'],
  ["more than sixteen pairs", JSON.stringify(many(17))],
  ["a long name", JSON.stringify({ ["n".repeat(65)]: "v" })],
  ["bytes that are no UTF-8", '{"team":"\u00ff"}'],
])("a header with %s is refused as the caller's mistake", (_what, metadata) => {
  expect(() => tagsOf("chat", {}, { metadata })).toThrow(
    expect.objectContaining({ code: "invalid_value" }),
  );
});

it("an end user in a header that is too long or not UTF-8 is refused", () => {
  for (const endUser of ["x".repeat(257), "\u00ff"])
    expect(() => tagsOf("chat", {}, { endUser })).toThrow(/has at most 256 characters/);
});

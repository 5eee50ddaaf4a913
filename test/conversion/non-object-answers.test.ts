/**
 * Answer schemas whose root is not an object, such as the lists of Google's SDKs. OpenAI refuses them. The gateway wraps such a
 * schema in an object, and unwraps the answer. CONV-211, CONV-310.
 */
import { describe, expect, it } from "vitest";
import { json, sse } from "../support/recorder.ts";
import { answerText, at } from "../rows/protocols.ts";
import { byName, conversions, dataOf, type Body } from "./world.ts";

const world = conversions();
const item = { $ref: "#/$defs/item" };
const $defs = { item: { type: "object", properties: { n: { type: "integer" } } } };
const list = { type: "array", items: item };
const box = (schema: Body, beside: Body = {}): Body => ({
  type: "object",
  properties: { answer: schema },
  required: ["answer"],
  additionalProperties: false,
  ...beside,
});
const asked = (responseJsonSchema: Body): Body => ({
  generationConfig: { responseMimeType: "application/json", responseJsonSchema },
});
const name = "generationConfig.responseJsonSchema";
const placeOf = {
  chat: ["response_format", "json_schema", "schema"],
  responses: ["text", "format", "schema"],
} as const;
const upstreams = ["chat", "responses"] as const;

/** The upstream's answer with this text. */
const saying = (upstream: "chat" | "responses", text: string): Body =>
  JSON.parse(
    JSON.stringify(byName[upstream].whole()).replace(
      JSON.stringify(answerText),
      JSON.stringify(text),
    ),
  ) as Body;
const textsOf = (answer: unknown): string =>
  ((at(answer, "candidates", 0, "content", "parts") as Body[] | undefined) ?? [])
    .map(({ text }) => String(text))
    .join("");

describe.each(upstreams)("an answer schema without an object root, towards %s", (upstream) => {
  it.each<[string, Body, Body]>([
    ["a list", { ...list, $defs }, box(list, { $defs })],
    ["a choice", { anyOf: [list, item], $defs }, box({ anyOf: [list, item] }, { $defs })],
    [
      "a reference to a list",
      { $ref: "#/$defs/list", $defs: { ...$defs, list } },
      box({ $ref: "#/$defs/list" }, { $defs: { ...$defs, list } }),
    ],
    ["a word", { type: "string", enum: ["a", "b"] }, box({ type: "string", enum: ["a", "b"] })],
    [
      "a reference to itself",
      {
        type: ["object", "null"],
        properties: { in: { $ref: "#" }, at: { $ref: "#/properties/in" } },
      },
      box({
        type: ["object", "null"],
        properties: {
          in: { $ref: "#/properties/answer" },
          at: { $ref: "#/properties/answer/properties/in" },
        },
      }),
    ],
  ])("is wrapped in an object, which is reported: %s", async (_what, schema, sent) => {
    const { status, up, reported } = await world.send("generate_content", upstream, asked(schema));
    expect([status, reported]).toEqual([200, [name]]);
    expect(at(up, ...placeOf[upstream])).toEqual(sent);
  });

  it("is not wrapped if it is an object", async () => {
    const { up, reported } = await world.send("generate_content", upstream, asked($defs.item));
    expect(reported).toEqual([]);
    expect(at(up, ...placeOf[upstream])).toEqual($defs.item);
  });

  it("is resolved at the root if it is only a reference to an object", async () => {
    const { up, reported } = await world.send(
      "generate_content",
      upstream,
      asked({ ...item, $defs }),
    );
    expect(reported).toEqual([]);
    expect(at(up, ...placeOf[upstream])).toEqual({ ...$defs.item, $defs });
  });

  it.each([
    ['{"answer":[{"n":12345678901234567890}]}', '[{"n":12345678901234567890}]'],
    ['{ "answer" : "a" }', '"a"'],
    // An answer that the token limit cut off.
    ['{"answer": [{"n":1},{"n"', '[{"n":1},{"n"'],
    ["I cannot.", "I cannot."],
    ['{"answer":1,"more":2}', '{"answer":1,"more":2}'],
  ])("is unwrapped in the answer: %s is read as %s", async (said, read) => {
    const reply = json(saying(upstream, said));
    const { answer } = await world.send("generate_content", upstream, asked(list), reply);
    expect(textsOf(answer)).toBe(read);
  });
});

it("a streamed answer is unwrapped too, at any cut", async () => {
  const chunk = (delta: Body, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const pieces = '{"answer":[{"n":1},{"n":2}]}'
    .match(/.{1,3}/g)!
    .map((content) => chunk({ content }));
  const stream = [...pieces, chunk({}, "stop"), "data: [DONE]\n\n"].join("");
  const { events } = await world.stream("generate_content", "chat", asked(list), sse(stream));
  expect(dataOf(events).map(textsOf).join("")).toBe('[{"n":1},{"n":2}]');
});

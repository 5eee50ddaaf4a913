/** Odd values at the edges of the codecs: what is absent stays absent, and what is twice said is said once. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/canonical/request.ts";
import { addressesIn } from "../../src/protocols/addresses.ts";
import { readFacts } from "../../src/protocols/chat/facts.ts";
import { mergeDetails } from "../../src/protocols/chat/reasoning.ts";
import { generateContentCodec } from "../../src/protocols/generate-content/index.ts";
import { read } from "../../src/protocols/generate-content/names.ts";
import { joinPartials } from "../../src/protocols/generate-content/partial-arguments.ts";
import { toVendorSchema } from "../../src/protocols/generate-content/schema.ts";
import { messagesCodec } from "../../src/protocols/messages/index.ts";
import { responsesCodec } from "../../src/protocols/responses/index.ts";
import { decodeContent } from "../../src/protocols/responses/parts.ts";
import { completeResponse } from "../../src/protocols/responses/response-object.ts";

const model = "acme/talk";
const address = { model, stream: false };

describe("chat", () => {
  it("parts that are no media count by their characters", () => {
    const part = { type: "text", text: "twelve chars" };
    const sizeOf = (...content: JsonObject[]) => {
      const facts = readFacts({ model, messages: [{ role: "user", content }] });
      return { characters: facts.inputCharacters, media: facts.inputMedia };
    };
    const one = sizeOf(part).characters;
    expect(one).toBeGreaterThanOrEqual("userTwelve chars".length);
    expect(sizeOf(part, part).characters).toBe(2 * one - "user".length);
    expect(sizeOf({ type: "image_url", image_url: { url: "https://a/b" } }).media).toBe(1);
  });

  it("a null in a later piece of reasoning details takes nothing away", () => {
    const gathered: JsonObject[] = [
      { type: "reasoning.text", index: 0, text: "a", signature: "s" },
    ];
    mergeDetails(gathered, [{ type: "reasoning.text", index: 0, text: "b", signature: null }]);
    expect(gathered).toEqual([{ type: "reasoning.text", index: 0, text: "ab", signature: "s" }]);
  });

  it("addresses are found however deep they are, and not in plain values beside them", () => {
    const content: JsonObject[] = [
      { type: "text", text: "https://no.example/" },
      { type: "file", file: { filename: "a", inner: { file_data: "https://yes.example/" } } },
    ];
    expect(addressesIn("chat", { messages: [{ role: "user", content }] })).toEqual([
      { param: "messages[0].content[1].file.inner.file_data", url: "https://yes.example/" },
    ]);
  });
});

describe("generateContent", () => {
  const encode = (extra: object): JsonObject =>
    generateContentCodec.encodeRequest(
      {
        protocol: "chat",
        model,
        stream: false,
        messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
        native: [],
        names: {},
        ...extra,
      },
      "gemini-3-pro",
    );

  it("without a system message there is no instruction", () => {
    expect(Object.keys(encode({}))).toEqual(["contents"]);
  });

  it("a schema keeps its own description where the format has none", () => {
    const schema = { type: "object", description: "own" };
    const texts = (description?: string) =>
      JSON.stringify(
        encode({ outputFormat: { type: "json_schema", name: "n", schema, description } }),
      );
    expect(texts()).toContain('"description":"own"');
    expect(texts("outer")).toContain(String.raw`"description":"outer\n\nown"`);
  });

  it("reads a field in either spelling, from its first use on", () => {
    expect(read({ never_read_before: 5 }, "neverReadBefore")).toBe(5);
    expect(read({ never_read_before: 5, neverReadBefore: 6 }, "neverReadBefore")).toBe(6);
  });

  it("partial arguments that name what every object inherits make members of their own", () => {
    const entries = [{ jsonPath: "$.toString", stringValue: "a" }];
    expect(joinPartials({}, entries)).toEqual({ toString: "a" });
    const nested = [{ jsonPath: "$.valueOf.x", stringValue: "a" }];
    expect(JSON.stringify(joinPartials({}, nested))).toBe('{"valueOf":{"x":"a"}}');
    joinPartials({}, [{ jsonPath: "$.__proto__.polluted", stringValue: "a" }]);
    expect(Reflect.has({}, "polluted")).toBe(false);
  });

  it("the parts of an allOf are one schema: the last word of a keyword, each required name once", () => {
    const allOf = [
      { type: "object", required: ["a"], minProperties: 1 },
      { type: "object", required: ["a", "b"], minProperties: 2 },
    ];
    const merged = toVendorSchema({ allOf });
    expect(merged["required"]).toEqual(["a", "b"]);
    expect(JSON.stringify(merged["type"]).toLowerCase()).toBe('"object"');
  });
});

describe("messages", () => {
  it("a request that says nothing of reasoning has none", () => {
    const messages = [{ role: "user", content: "hi" }];
    const request = messagesCodec.decodeRequest({ model, max_tokens: 5, messages }, address);
    expect("reasoning" in request).toBe(false);
    const output_config = { effort: "low" };
    const wished = { model, max_tokens: 5, messages, output_config };
    expect(messagesCodec.decodeRequest(wished, address).reasoning).toEqual({ effort: "low" });
  });
});

describe("responses", () => {
  it("tools of null are no tools", () => {
    const request = responsesCodec.decodeRequest({ model, input: "hi", tools: null }, address);
    expect("tools" in request).toBe(false);
  });

  it("a picture without address and file is not taken for one", () => {
    const native: Parameters<typeof decodeContent>[2] = [];
    expect(decodeContent([{ type: "input_image" }], "input[0].content", native)).toEqual([]);
    expect(native).toHaveLength(1);
  });

  it("RESP-53: the total is the sum of both sides, where both are there", () => {
    const total = (usage: JsonObject) =>
      (completeResponse({ usage }, model)["usage"] as JsonObject)["total_tokens"];
    expect(total({ input_tokens: 5, output_tokens: 3, total_tokens: 99 })).toBe(8);
    expect(total({ input_tokens: 5 })).toBeUndefined();
    expect(total({ output_tokens: 3 })).toBeUndefined();
  });
});

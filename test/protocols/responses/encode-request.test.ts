import { describe, expect, it } from "vitest";
import type { CanonicalRequest, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { contextFor } from "../chat/support.ts";

const decode = (extra: JsonObject): CanonicalRequest =>
  responsesCodec.decodeRequest(
    { model: "acme/talk", input: "hi", ...extra },
    { model: "acme/talk", stream: false },
  );
const encode = (request: Partial<CanonicalRequest>): JsonObject =>
  responsesCodec.encodeRequest(
    { ...contextFor().request, messages: [], stream: false, ...request },
    "up",
  );
const text = (words: string) => ({ type: "text", text: words }) as const;

describe("the writer of responses requests", () => {
  it("CONV-301 CONV-302 CONV-303 CONV-310 CONV-311 CONV-313 CONV-314: uses the protocol's own names", () => {
    expect(
      encode({
        messages: [
          { role: "system", content: [text("be kind")] },
          { role: "user", content: [text("hi")] },
        ],
        maxOutputTokens: 50,
        temperature: 1.7,
        outputFormat: { type: "json" },
        reasoning: { effort: "high" },
        verbosity: "low",
        endUserId: "u1",
      }),
    ).toEqual({
      model: "up",
      instructions: "be kind",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      max_output_tokens: 50,
      temperature: 1.7,
      text: { format: { type: "json_object" }, verbosity: "low" },
      reasoning: { effort: "high" },
      user: "u1",
    });
  });

  it("CONV-305 CONV-306 CONV-304 CONV-317: omits parameters that the protocol lacks", () => {
    const body = encode({
      stop: ["a"],
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      topK: 4,
      reasoning: { budget: 1024 },
    });
    expect(body).toEqual({ model: "up", input: [] });
  });

  it("CONV-307 CONV-309 RESP-16: writes tools flat, and always writes strict, whose default is true", () => {
    const tools = [{ name: "f", description: "d", parameters: { type: "object" } }, { name: "g" }];
    expect(encode({ tools, parallelToolCalls: false })).toEqual({
      model: "up",
      input: [],
      tools: [
        {
          type: "function",
          name: "f",
          description: "d",
          parameters: { type: "object" },
          strict: false,
        },
        {
          type: "function",
          name: "g",
          parameters: { type: "object", properties: {} },
          strict: false,
        },
      ],
      parallel_tool_calls: false,
    });
    expect(encode({ parallelToolCalls: false })).not.toHaveProperty("parallel_tool_calls");
  });

  it("CONV-312: writes a request for thoughts as a summary", () => {
    expect(encode({ reasoning: { includeThoughts: true } })["reasoning"]).toEqual({
      summary: "auto",
    });
    expect(encode({ reasoning: { includeThoughts: false } })).not.toHaveProperty("reasoning");
  });

  it("T27 RESP-27: writes calls, results with pictures, and reasoning only with this protocol's encryption", () => {
    const signed = (protocol: "responses" | "messages") =>
      ({
        type: "reasoning",
        text: "hm",
        summary: true,
        signature: { protocol, value: "zzz" },
      }) as const;
    const { input } = encode({
      messages: [
        {
          role: "assistant",
          content: [
            signed("responses"),
            signed("messages"),
            text("a"),
            { type: "refusal", text: "no" },
            { type: "tool_call", id: "c", name: "f", arguments: "" },
            text("b"),
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              callId: "c",
              content: [
                text("see"),
                {
                  type: "media",
                  media: "image",
                  source: { kind: "url", url: "https://x.test/a.png" },
                },
              ],
            },
            text("go on"),
          ],
        },
      ],
    });
    expect(input).toEqual([
      {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "zzz",
      },
      {
        type: "message",
        role: "assistant",
        content: [
          { type: "output_text", text: "a", annotations: [] },
          { type: "refusal", refusal: "no" },
        ],
      },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "b", annotations: [] }],
      },
      {
        type: "function_call_output",
        call_id: "c",
        output: [
          { type: "input_text", text: "see" },
          { type: "input_image", image_url: "https://x.test/a.png", detail: "auto" },
        ],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "go on" }] },
    ]);
  });

  it("keeps system turns in place after the conversation began", () => {
    const { input, instructions } = encode({
      messages: [
        { role: "user", content: [text("a")] },
        { role: "system", developer: true, content: [text("b")] },
      ],
    });
    expect(instructions).toBeUndefined();
    expect(input).toMatchObject([{ role: "user" }, { role: "developer" }]);
  });

  it("TXT-17 RESP-29: keeps the protocol's own fields on reading and writing again, and not the filtered ones", () => {
    const kept: JsonObject = {
      truncation: "auto",
      include: ["x"],
      safety_identifier: "s",
      max_tool_calls: 3,
      prompt_cache_options: { ttl: "30m" },
      tools: [
        { type: "web_search" },
        { type: "function", name: "f", parameters: {}, strict: true },
      ],
      reasoning: { effort: "low", extra: 1 },
      stream_options: { include_obfuscation: false },
    };
    const request = decode({ ...kept, service_tier: "flex", previous_response_id: "resp_1" });
    expect(encode(request)).toEqual({
      model: "up",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      ...kept,
    });
  });
});

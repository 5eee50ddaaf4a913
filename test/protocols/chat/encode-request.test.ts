import { describe, expect, it } from "vitest";
import type { CanonicalRequest, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { contextFor } from "./support.ts";

const user = { role: "user", content: "hi" };
const decode = (extra: JsonObject): CanonicalRequest =>
  chatCodec.decodeRequest(
    { model: "acme/talk", messages: [user], ...extra },
    { model: "acme/talk", stream: false },
  );
const encode = (request: Partial<CanonicalRequest>): JsonObject =>
  chatCodec.encodeRequest(
    { ...contextFor().request, messages: [], protocol: "messages", stream: false, ...request },
    "up",
  );

describe("the writer of chat requests", () => {
  it("CONV-202 CONV-203 CONV-205 CONV-207 CONV-212 CONV-214 CONV-215: uses chat's own names", () => {
    expect(
      encode({
        maxOutputTokens: 50,
        temperature: 1.7,
        stop: ["a"],
        seed: 1,
        presencePenalty: 0.5,
        frequencyPenalty: -0.5,
        reasoning: { effort: "low", summary: "auto" },
        verbosity: "low",
        endUserId: "u1",
      }),
    ).toEqual({
      model: "up",
      messages: [],
      max_tokens: 50,
      temperature: 1.7,
      stop: ["a"],
      seed: 1,
      presence_penalty: 0.5,
      frequency_penalty: -0.5,
      reasoning_effort: "low",
      verbosity: "low",
      user: "u1",
    });
  });

  it("T47: asks for usage in a stream", () => {
    expect(encode({ stream: true })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("CONV-201 CONV-208 CONV-210 CONV-217: puts the system message first, nests tools, and writes no cache markers", () => {
    const body = encode({
      messages: [
        { role: "system", content: [{ type: "text", text: "be kind", cache: {} }] },
        { role: "user", content: [{ type: "text", text: "hi", cache: {} }] },
      ],
      tools: [{ name: "f", description: "d", parameters: { type: "object" }, cache: {} }],
      parallelToolCalls: false,
    });
    expect(body).toEqual({
      model: "up",
      messages: [
        { role: "system", content: "be kind" },
        { role: "user", content: "hi" },
      ],
      tools: [
        {
          type: "function",
          function: { name: "f", description: "d", parameters: { type: "object" } },
        },
      ],
      parallel_tool_calls: false,
    });
  });

  it("CONV-216: writes pictures as base64 and as URLs", () => {
    const image = { type: "media", media: "image" } as const;
    const body = encode({
      messages: [
        {
          role: "user",
          content: [
            { ...image, source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
            { ...image, source: { kind: "url", url: "https://x.test/a.png" }, detail: "low" },
          ],
        },
      ],
    });
    expect(body["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image_url", image_url: { url: "https://x.test/a.png", detail: "low" } },
        ],
      },
    ]);
  });

  it("T27: writes each result after its call, and the results' pictures in the user's message", () => {
    const body = encode({
      messages: [
        {
          role: "assistant",
          content: [
            { type: "tool_call", id: "a", name: "f", arguments: "" },
            { type: "tool_call", id: "b", name: "f", arguments: "{}" },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", callId: "a", content: [{ type: "text", text: "1" }] },
            {
              type: "tool_result",
              callId: "b",
              content: [
                {
                  type: "media",
                  media: "image",
                  source: { kind: "base64", mediaType: "image/png", data: "AA" },
                },
              ],
            },
            { type: "text", text: "go on" },
          ],
        },
      ],
    });
    expect(body["messages"]).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
          { id: "b", type: "function", function: { name: "f", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "" },
      {
        role: "user",
        content: [
          { type: "text", text: "Returned by tool call b:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
          { type: "text", text: "go on" },
        ],
      },
    ]);
  });

  it("T41: sends a chat caller's reasoning back unchanged", () => {
    const details = [{ type: "reasoning.text", text: "hm", signature: "s", index: 0 }];
    const messages: JsonObject[] = [
      user,
      { role: "assistant", content: "a", reasoning: "hm", reasoning_details: details },
      user,
      { role: "assistant", content: "b", reasoning_content: "so" },
    ];
    expect(encode(decode({ messages }))["messages"]).toEqual(messages);
  });

  it("TXT-17: returns a chat body unchanged except for the model and the filtered fields", () => {
    const body: JsonObject = {
      model: "acme/talk",
      messages: [
        { role: "system", content: "s" },
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: "https://x.test/a.png" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "c", type: "function", function: { name: "f", arguments: '{"x":1}' } },
          ],
        },
        { role: "tool", tool_call_id: "c", content: "42" },
        { role: "assistant", content: "done" },
        user,
      ],
      tools: [
        { type: "custom", custom: { name: "c" } },
        {
          type: "function",
          function: { name: "f", description: "d", parameters: { type: "object" }, strict: true },
        },
      ],
      tool_choice: "auto",
      max_completion_tokens: 9,
      n: 2,
      logit_bias: { "1": 2 },
      metadata: { a: "b" },
    };
    expect(encode(decode({ ...body, service_tier: "flex" }))).toEqual({ ...body, model: "up" });
  });
});

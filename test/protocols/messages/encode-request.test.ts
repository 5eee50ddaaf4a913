import { describe, expect, it } from "vitest";
import type { CanonicalRequest, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

const encode = (request: CanonicalRequest) => messagesCodec.encodeRequest(request, "vendor-model");
const user = (content: unknown): JsonObject => ({ role: "user", content }) as JsonObject;

const empty: CanonicalRequest = {
  protocol: "chat",
  model: "acme/talk",
  stream: false,
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  native: [],
  names: {},
};

describe("the writer of messages requests", () => {
  it("CONV-401: moves system turns to the top", () => {
    const body = encode({
      ...empty,
      messages: [
        { role: "system", content: [{ type: "text", text: "Be brief." }] },
        ...empty.messages,
        { role: "system", content: [{ type: "text", text: "And kind." }], developer: true },
      ],
    });
    expect(body["system"]).toEqual([
      { type: "text", text: "Be brief." },
      { type: "text", text: "And kind." },
    ]);
    expect(body["messages"]).toEqual([user([{ type: "text", text: "hi" }])]);
  });

  it("CONV-402 CONV-406 CONV-407 CONV-416: uses the protocol's own parameter names", () => {
    expect(
      encode({
        ...empty,
        stream: true,
        maxOutputTokens: 50,
        temperature: 0.4,
        topP: 1,
        topK: 5,
        stop: ["a"],
        endUserId: "u1",
      }),
    ).toEqual({
      model: "vendor-model",
      max_tokens: 50,
      messages: [user([{ type: "text", text: "hi" }])],
      stream: true,
      temperature: 0.4,
      top_p: 1,
      top_k: 5,
      stop_sequences: ["a"],
      metadata: { user_id: "u1" },
    });
  });

  const tools = [{ name: "look", parameters: { type: "object" } }, { name: "go" }];
  it("CONV-409 T24: gives tools an object schema, even without parameters", () => {
    expect(
      encode({ ...empty, tools: [...tools, { name: "odd", parameters: { properties: {} } }] })[
        "tools"
      ],
    ).toEqual([
      { name: "look", input_schema: { type: "object" } },
      { name: "go", input_schema: { type: "object", properties: {} } },
      { name: "odd", input_schema: { type: "object", properties: {} } },
    ]);
  });

  it.each([
    [{ type: "auto" }, undefined, { type: "auto" }],
    [{ type: "required" }, undefined, { type: "any" }],
    [{ type: "tool", name: "go" }, undefined, { type: "tool", name: "go" }],
    [{ type: "none" }, false, { type: "none" }],
    [{ type: "required" }, false, { type: "any", disable_parallel_tool_use: true }],
    [undefined, false, { type: "auto", disable_parallel_tool_use: true }],
    [undefined, true, { type: "auto", disable_parallel_tool_use: false }],
  ] as const)(
    "CONV-410 CONV-411: writes the tool choice %o with parallel calls %s as %o",
    (toolChoice, parallelToolCalls, wire) => {
      expect(encode({ ...empty, tools, toolChoice, parallelToolCalls })["tool_choice"]).toEqual(
        wire,
      );
    },
  );

  it("T29: writes only the allowed tools if there is a list of them", () => {
    const body = encode({
      ...empty,
      tools,
      toolChoice: { type: "allowed", mode: "required", names: ["go"] },
    });
    expect(body["tools"]).toEqual([
      { name: "go", input_schema: { type: "object", properties: {} } },
    ]);
    expect(body["tool_choice"]).toEqual({ type: "any" });
  });

  it.each([
    [{ budget: 2048 }, { type: "enabled", budget_tokens: 2048 }],
    [{ budget: 0 }, { type: "disabled" }],
    [{ effort: "none" }, { type: "disabled" }],
    [
      { budget: "dynamic", includeThoughts: true },
      { type: "adaptive", display: "summarized" },
    ],
  ] as const)("CONV-413: writes the reasoning %o as the thinking %o", (reasoning, thinking) => {
    expect(encode({ ...empty, reasoning })["thinking"]).toEqual(thinking);
  });

  it("T25 T27: omits empty text, keeps images in tool results, and puts results first", () => {
    const image = { kind: "base64", mediaType: "image/png", data: "AAAA" } as const;
    const { messages } = encode({
      ...empty,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "so?" },
            { type: "text", text: "" },
            {
              type: "tool_result",
              callId: "call.1",
              content: [{ type: "media", media: "image", source: image }],
            },
          ],
        },
      ],
    }) as { messages: unknown };
    expect(messages).toEqual([
      user([
        {
          type: "tool_result",
          tool_use_id: "call_1",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          ],
        },
        { type: "text", text: "so?" },
      ]),
    ]);
  });

  it("omits another protocol's signature together with its thought", () => {
    const { messages } = encode({
      ...empty,
      messages: [
        {
          role: "assistant",
          content: [
            {
              type: "reasoning",
              text: "Hm.",
              signature: { protocol: "generate_content", value: "x" },
            },
            { type: "text", text: "Hi" },
          ],
        },
      ],
    }) as { messages: unknown };
    expect(messages).toEqual([{ role: "assistant", content: [{ type: "text", text: "Hi" }] }]);
  });

  it.each([
    ["", {}],
    ['{"a":1}', { a: 1 }],
    ["[1]", { arguments: "[1]" }],
    ['{"a":', { arguments: '{"a":' }],
  ])("writes the arguments %j as the input %o", (json, input) => {
    const { messages } = encode({
      ...empty,
      messages: [
        {
          role: "assistant",
          content: [{ type: "tool_call", id: "a", name: "f", arguments: json }],
        },
      ],
    }) as { messages: [{ content: [{ input: unknown }] }] };
    expect(messages[0].content[0].input).toEqual(input);
  });
});

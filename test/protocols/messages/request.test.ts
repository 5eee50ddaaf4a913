import { describe, expect, it } from "vitest";
import type { CanonicalRequest, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

const address = { model: "acme/talk:@price", stream: false };
const decode = (body: object): CanonicalRequest =>
  messagesCodec.decodeRequest(
    { model: "acme/talk", max_tokens: 100, messages: [user("hi")], ...body },
    address,
  );
const encode = (request: CanonicalRequest) => messagesCodec.encodeRequest(request, "vendor-model");
const user = (content: unknown): JsonObject => ({ role: "user", content }) as JsonObject;

describe("the reader of messages requests", () => {
  it("reads every block of a conversation with tools", () => {
    const { messages, native } = decode({
      system: [
        { type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } },
      ],
      messages: [
        user([
          { type: "text", text: "Look" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "document", source: { type: "file", file_id: "file_1" }, title: "a.pdf" },
        ]),
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "c2ln" },
            { type: "redacted_thinking", data: "cmVk" },
            { type: "tool_use", id: "toolu_1", name: "look", input: { where: "shelf" } },
          ],
        },
        user([
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            is_error: true,
            content: [
              { type: "text", text: "dark" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "BBBB" } },
            ],
          },
        ]),
      ],
    });
    expect(messages).toEqual([
      { role: "system", content: [{ type: "text", text: "Be brief.", cache: { ttl: "1h" } }] },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          {
            type: "media",
            media: "image",
            source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
          },
          {
            type: "media",
            media: "image",
            source: { kind: "url", url: "https://example.com/a.png" },
          },
          {
            type: "media",
            media: "file",
            source: { kind: "file_id", fileId: "file_1" },
            filename: "a.pdf",
          },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", signature: { protocol: "messages", value: "c2ln" } },
          {
            type: "reasoning",
            text: "",
            signature: { protocol: "messages", value: "cmVk", redacted: true },
          },
          { type: "tool_call", id: "toolu_1", name: "look", arguments: '{"where":"shelf"}' },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            callId: "toolu_1",
            isError: true,
            content: [
              { type: "text", text: "dark" },
              {
                type: "media",
                media: "image",
                source: { kind: "base64", mediaType: "image/png", data: "BBBB" },
              },
            ],
          },
        ],
      },
    ]);
    expect(native).toEqual([]);
  });

  it("reads the parameters, and keeps the caller's names", () => {
    const request = decode({
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ["END"],
      tools: [
        { name: "look", description: "Looks", input_schema: { type: "object" }, strict: true },
      ],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 2048, display: "omitted" },
      output_config: { effort: "low", format: { type: "json_schema", schema: { type: "object" } } },
      metadata: { user_id: "user_1" },
    });
    expect(request).toMatchObject({
      protocol: "messages",
      model: "acme/talk:@price",
      stream: false,
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      stop: ["END"],
      tools: [{ name: "look", description: "Looks", parameters: { type: "object" }, strict: true }],
      toolChoice: { type: "required" },
      parallelToolCalls: false,
      reasoning: { budget: 2048, includeThoughts: false, effort: "low" },
      outputFormat: { type: "json_schema", schema: { type: "object" } },
      endUserId: "user_1",
      native: [],
    });
    expect(request.names).toEqual({
      maxOutputTokens: "max_tokens",
      temperature: "temperature",
      topP: "top_p",
      topK: "top_k",
      stop: "stop_sequences",
      tools: "tools",
      toolChoice: "tool_choice",
      parallelToolCalls: "tool_choice.disable_parallel_tool_use",
      "reasoning.budget": "thinking.budget_tokens",
      "reasoning.includeThoughts": "thinking.display",
      "reasoning.effort": "output_config.effort",
      outputFormat: "output_config.format",
      endUserId: "metadata.user_id",
    });
  });

  it.each([
    ["disabled", 0],
    ["adaptive", "dynamic"],
  ])("reads thinking %s as a budget of %s", (type, budget) => {
    expect(decode({ thinking: { type } }).reasoning).toEqual({ budget });
  });

  it.each([
    ["auto", { type: "auto" }, { type: "auto" }],
    ["none", { type: "none" }, { type: "none" }],
    ["tool", { type: "tool", name: "look" }, { type: "tool", name: "look" }],
  ])("reads the tool choice %s", (_, wire, expected) => {
    expect(decode({ tool_choice: wire }).toolChoice).toEqual(expected);
  });

  it("T33: keeps fields that only this protocol has, under the caller's names", () => {
    const { native, tools } = decode({
      messages: [
        user([{ type: "text", text: "a", citations: { enabled: true } }]),
        {
          role: "assistant",
          content: [{ type: "server_tool_use", id: "s", name: "web_search", input: {} }],
        },
      ],
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "look", input_schema: { type: "object" }, defer_loading: true },
      ],
      context_management: { edits: [] },
      inference_geo: "eu",
      cache_control: { type: "ephemeral" },
    });
    expect(native.map(({ param }) => param)).toEqual([
      "messages[0].content[0].citations",
      "messages[1].content[0]",
      "tools[0]",
      "tools[1].defer_loading",
      "context_management",
      "inference_geo",
      "cache_control",
    ]);
    expect(tools).toHaveLength(1);
  });

  it("names the field of a mistake", () => {
    expect(() => decode({ temperature: 3 })).toThrow(
      expect.objectContaining({ param: "temperature" }),
    );
  });
});

describe("a messages request through the canonical form and back", () => {
  it("is unchanged for an agent's request, except filtered fields", () => {
    const body: JsonObject = {
      model: "acme/talk",
      max_tokens: 32_000,
      system: [{ type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } }],
      messages: [
        user([
          { type: "text", text: "look", cache_control: { type: "ephemeral", ttl: "1h" } },
          { type: "search_result", source: "x", title: "y", content: [] },
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "Größe" },
            title: "t",
          },
        ]),
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "c2ln" },
            { type: "text", text: "I look.", citations: [{ type: "char_location" }] },
            { type: "tool_use", id: "toolu_1", name: "look", input: { where: "shelf" } },
          ],
        },
        user([
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [
              { type: "tool_reference", tool_name: "go" },
              { type: "text", text: "dark" },
            ],
            is_error: true,
            cache_control: { type: "ephemeral" },
          },
        ]),
        { role: "system", content: [{ type: "text", text: "The clock says noon." }] },
      ],
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "look", input_schema: { type: "object" }, defer_loading: true },
      ],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      thinking: { type: "adaptive", display: "summarized" },
      output_config: {
        effort: "high",
        format: { type: "json_schema", schema: {} },
        task_budget: { total: 5 },
      },
      metadata: { user_id: "user_1" },
      context_management: { edits: [{ type: "clear_thinking_20251015" }] },
    };
    const request = messagesCodec.decodeRequest({ ...body, service_tier: "auto" }, address);
    expect(encode(request)).toEqual({ ...body, model: "vendor-model" });
  });

  it("cannot change a prototype with its field names", () => {
    const request = messagesCodec.decodeRequest(
      JSON.parse(
        '{"model":"a","max_tokens":1,"messages":[{"role":"user","content":"a"}],"__proto__.polluted":1,"constructor.prototype.polluted":1}',
      ),
      address,
    );
    encode(request);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

import { describe, expect, it } from "vitest";
import type { CanonicalRequest, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { contextFor, faultOf } from "./support.ts";

const user = { role: "user", content: "hi" };
const decode = (extra: JsonObject): CanonicalRequest =>
  chatCodec.decodeRequest(
    { model: "acme/talk", messages: [user], ...extra },
    { model: "acme/talk", stream: false },
  );
const decodeMessages = (...messages: JsonObject[]) => decode({ messages }).messages;
const encode = (request: Partial<CanonicalRequest>): JsonObject =>
  chatCodec.encodeRequest(
    { ...contextFor().request, messages: [], protocol: "messages", stream: false, ...request },
    "up",
  );

describe("the reader of chat requests", () => {
  it("reads each field with a canonical meaning, and keeps the caller's name for it", () => {
    const request = decode({
      max_completion_tokens: 50,
      temperature: 1.7,
      top_p: 0.5,
      stop: "end",
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      parallel_tool_calls: false,
      reasoning_effort: "ultra",
      verbosity: "low",
      user: "u1",
      prompt_cache_key: "k",
      metadata: { a: "b" },
      store: true,
      stream_options: { include_usage: true },
    });
    expect(request).toMatchObject({
      protocol: "chat",
      maxOutputTokens: 50,
      temperature: 1.7,
      topP: 0.5,
      stop: ["end"],
      seed: 7,
      presencePenalty: 1,
      frequencyPenalty: -1,
      parallelToolCalls: false,
      reasoning: { effort: "ultra" },
      verbosity: "low",
      endUserId: "u1",
      promptCacheKey: "k",
      metadata: { a: "b" },
      store: true,
      includeUsage: true,
      native: [],
    });
    expect(request.names).toMatchObject({
      maxOutputTokens: "max_completion_tokens",
      "reasoning.effort": "reasoning_effort",
      endUserId: "user",
      includeUsage: "stream_options.include_usage",
    });
    expect(decode({ temperature: null }).names).toEqual({});
  });

  it("keeps fields that only chat has, in request order, under the caller's names", () => {
    const request = decode({
      logit_bias: { "1": 2 },
      messages: [
        {
          role: "user",
          content: [{ type: "hologram" }, { type: "text", text: "x" }],
          mood: "good",
        },
      ],
      n: 2,
      tools: [{ type: "hologram", hologram: { name: "c" } }],
      stream_options: { include_obfuscation: true },
      tool_choice: { type: "hologram", hologram: { name: "c" } },
      prediction: null,
    });
    expect(request.native.map((field) => field.param)).toEqual([
      "messages[0].content[0]",
      "messages[0].mood",
      "logit_bias",
      "n",
      "tools[0]",
      "stream_options.include_obfuscation",
      "tool_choice",
    ]);
  });

  it("does not count an empty list of annotations in a returned answer as a loss", () => {
    const turn = { role: "assistant", content: "Hi", refusal: null };
    const paramsOf = (annotations: { type: string }[]) =>
      decode({ messages: [{ ...turn, annotations }] }).native.map(({ param }) => param);
    expect(paramsOf([])).toEqual([]);
    expect(paramsOf([{ type: "url_citation" }])).toEqual(["messages[0].annotations"]);
  });

  it("T33: keeps vendor-specific members of tools and calls under their paths", () => {
    const named = { name: "look" };
    const extra_content = { google: { thought_signature: "c2ln" } };
    const call = { id: "1", type: "function", index: 0, function: { name: "look", arguments: "" } };
    const { native } = decode({
      tools: [
        {
          type: "function",
          function: { ...named, response: {} },
          defer_loading: true,
        },
      ],
      messages: [
        user,
        { role: "assistant", content: null, tool_calls: [{ ...call, extra_content }] },
      ],
    });
    expect(native.map(({ param }) => param)).toEqual([
      "messages[1].tool_calls[0].extra_content",
      "tools[0].defer_loading",
      "tools[0].function.response",
    ]);
  });

  it("T29: ignores allowed tools of other kinds", () => {
    const tools: JsonObject[] = [
      { type: "hologram", hologram: { name: "patch" } },
      { type: "function", function: { name: "look" } },
    ];
    const tool_choice = { type: "allowed_tools", allowed_tools: { mode: "required", tools } };
    const { toolChoice } = decode({ tool_choice });
    expect(toolChoice).toEqual({ type: "allowed", mode: "required", names: ["look"] });
  });

  it("T33: reads a custom tool with its format, and keeps its other members", () => {
    const grammar = { syntax: "regex", definition: "a+" };
    const { tools, native } = decode({
      tools: [
        { type: "custom", custom: { name: "a", format: { type: "grammar", grammar } } },
        { type: "custom", custom: { name: "b", format: { type: "text", mood: "good" }, x: 1 } },
        { type: "custom", custom: { name: "c", format: { type: "picture" } }, y: 2 },
        { type: "custom", custom: {} },
        { type: "custom", custom: { name: "d", format: { type: "grammar", grammar: {} } } },
      ],
    });
    expect(tools).toEqual([
      { name: "a", custom: { format: { type: "grammar", ...grammar } } },
      { name: "b", custom: { format: { type: "text" } } },
      { name: "c", custom: {} },
      { name: "d", custom: {} },
    ]);
    expect(native.map(({ param }) => param)).toEqual([
      "tools[1].custom.format.mood",
      "tools[1].custom.x",
      "tools[2].custom.format",
      "tools[2].y",
      "tools[3]",
      "tools[4].custom.format",
    ]);
  });

  it("refuses invalid bodies with the caller's field name", () => {
    expect(faultOf(() => decode({ temperature: 3 }))).toBe("integer_above_max_value temperature");
  });

  it("reads system and developer turns, names, and every kind of part", () => {
    const messages = decodeMessages(
      { role: "system", content: "s" },
      { role: "developer", content: [{ type: "text", text: "d" }] },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "look", cache_control: { type: "ephemeral", ttl: "1h" } },
          { type: "image_url", image_url: { url: "https://x.test/a.png", detail: "low" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "input_audio", input_audio: { data: "BBBB", format: "mp3" } },
          {
            type: "file",
            file: { file_data: "data:application/pdf;base64,CCCC", filename: "a.pdf" },
          },
          { type: "file", file: { file_id: "file_1" } },
          { type: "video_url", video_url: { url: "https://x.test/a.mp4" } },
        ],
      },
    );
    const media = { type: "media" };
    expect(messages).toEqual([
      { role: "system", content: [{ type: "text", text: "s" }] },
      { role: "system", developer: true, content: [{ type: "text", text: "d" }] },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "look", cache: { ttl: "1h" } },
          {
            ...media,
            media: "image",
            source: { kind: "url", url: "https://x.test/a.png" },
            detail: "low",
          },
          {
            ...media,
            media: "image",
            source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
          },
          {
            ...media,
            media: "audio",
            source: { kind: "base64", mediaType: "audio/mpeg", data: "BBBB" },
          },
          {
            ...media,
            media: "file",
            source: { kind: "base64", mediaType: "application/pdf", data: "CCCC" },
            filename: "a.pdf",
          },
          { ...media, media: "file", source: { kind: "file_id", fileId: "file_1" } },
          { ...media, media: "video", source: { kind: "url", url: "https://x.test/a.mp4" } },
        ],
      },
    ]);
  });

  it("reads calls, results, reasoning and refusals of an assistant's history", () => {
    const details = [{ type: "reasoning.encrypted", data: "zzz", index: 0 }];
    const [turn, result] = decodeMessages(
      {
        role: "assistant",
        content: "",
        reasoning: "hm",
        reasoning_details: details,
        refusal: "no",
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "42" }] },
    );
    expect(turn!.content).toEqual([
      {
        type: "reasoning",
        text: "hm",
        signature: { protocol: "chat", value: JSON.stringify(details) },
      },
      { type: "refusal", text: "no" },
      { type: "tool_call", id: "c1", name: "f", arguments: "{}" },
    ]);
    expect(result).toEqual({
      role: "user",
      content: [{ type: "tool_result", callId: "c1", content: [{ type: "text", text: "42" }] }],
    });
  });

  it("reads the deprecated functions: declared, called, answered, each call with its own id", () => {
    const request = decode({
      functions: [{ name: "f", parameters: { type: "object" } }],
      function_call: { name: "f" },
      messages: [
        user,
        { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: "1" },
        { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: "2" },
      ],
    });
    expect(request.tools).toEqual([{ name: "f", parameters: { type: "object" } }]);
    expect(request.toolChoice).toEqual({ type: "tool", name: "f" });
    expect(request.names).toMatchObject({ tools: "functions", toolChoice: "function_call" });
    const ids = request.messages.slice(1).map(({ content: [part] }) => {
      if (part?.type === "tool_call") return part.id;
      return part?.type === "tool_result" ? part.callId : "";
    });
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).toBe(ids[3]);
    expect(ids[0]).not.toBe(ids[2]);
  });

  it.each<[JsonObject | string, object]>([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    [
      { type: "function", function: { name: "f" } },
      { type: "tool", name: "f" },
    ],
    [
      {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
      },
      { type: "allowed", mode: "required", names: ["f"] },
    ],
  ])("reads and writes tool_choice %j", (choice, expected) => {
    const tools = [{ type: "function", function: { name: "f" } }];
    const request = decode({ tools, tool_choice: choice });
    expect(request.toolChoice).toEqual(expected);
    expect(encode(request)["tool_choice"]).toEqual(choice);
  });

  it.each<[JsonObject, object]>([
    [{ type: "text" }, { type: "text" }],
    [{ type: "json_object" }, { type: "json" }],
    [
      { type: "json_schema", json_schema: { name: "n", schema: { type: "object" }, strict: true } },
      { type: "json_schema", name: "n", schema: { type: "object" }, strict: true },
    ],
  ])("reads and writes response_format %j", (format, expected) => {
    const request = decode({ response_format: format });
    expect(request.outputFormat).toEqual(expected);
    expect(encode(request)["response_format"]).toEqual(format);
  });
});

it("an empty list of messages is refused with the word for one item", () => {
  expect(() => chatCodec.direct.validate({ model: "acme/talk", messages: [] })).toThrow(
    "Invalid 'messages': expected at least 1 item, but got 0 instead.",
  );
});

import { describe, expect, it } from "vitest";
import type { CanonicalRequest, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { contextFor, faultOf, recordings } from "./support.ts";

const user = { role: "user", content: "hi" };
const decode = (extra: JsonObject): CanonicalRequest =>
  chatCodec.decodeRequest(
    { model: "acme/talk", messages: [user], ...extra },
    { model: "acme/talk", stream: false },
  );
const decodeMessages = (...messages: JsonObject[]) => decode({ messages }).messages;
const encode = (request: Partial<CanonicalRequest>): JsonObject =>
  chatCodec.encodeRequest(
    { ...contextFor().request, protocol: "messages", stream: false, ...request },
    "up",
  );

describe("chat requests, read", () => {
  it("every field that has a canonical meaning, under the caller's own name", () => {
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

  it("what only chat knows is kept in request order, under the names the caller wrote", () => {
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
      tools: [{ type: "custom", custom: { name: "c" } }],
      stream_options: { include_obfuscation: true },
      tool_choice: { type: "custom", custom: { name: "c" } },
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

  it("bad bodies are refused with the caller's field name", () => {
    expect(faultOf(() => decode({ temperature: 3 }))).toBe("integer_above_max_value temperature");
  });

  it("system and developer turns, names, and every kind of part", () => {
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

  it("calls, results, reasoning and refusals of an assistant's history", () => {
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

  it("the deprecated functions: declared, called, answered, each call with its own id", () => {
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
  ])("tool_choice %j", (choice, expected) => {
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
  ])("response_format %j", (format, expected) => {
    const request = decode({ response_format: format });
    expect(request.outputFormat).toEqual(expected);
    expect(encode(request)["response_format"]).toEqual(format);
  });
});

describe("chat requests, written", () => {
  it("CONV-202 CONV-203 CONV-205 CONV-207 CONV-212 CONV-214 CONV-215: under chat's own names", () => {
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

  it("T47: a stream asks for its usage", () => {
    expect(encode({ stream: true })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("CONV-201 CONV-208 CONV-210 CONV-217: system first, tools nested, no cache marker anywhere", () => {
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

  it("CONV-216: pictures as base64 and as URL", () => {
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

  it("T27: results follow their calls, each on its own; their pictures come in the user's message", () => {
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

  it("T41: a chat caller's reasoning goes back as it came", () => {
    const details = [{ type: "reasoning.text", text: "hm", signature: "s", index: 0 }];
    const messages = [
      user,
      { role: "assistant", content: "a", reasoning: "hm", reasoning_details: details },
      user,
      { role: "assistant", content: "b", reasoning_content: "so" },
    ];
    expect(encode(decode({ messages }))["messages"]).toEqual(messages);
  });

  it("TXT-17: read and written again, a chat body is the same but for the model and the filtered fields", () => {
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

describe("whole chat answers", () => {
  const answer = (message: JsonObject, extra: JsonObject = {}, finish = "stop"): JsonObject => ({
    id: "chatcmpl-up",
    created: 5,
    model: "up",
    choices: [{ index: 0, message, finish_reason: finish }],
    ...extra,
  });

  it("reads reasoning, text, refusal and calls in order, and the usage", () => {
    const response = chatCodec.decodeResponse(
      answer(
        {
          content: "x",
          reasoning_content: "r",
          refusal: null,
          tool_calls: [{ id: "", function: { name: "f", arguments: { a: 1 } } }],
        },
        { usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
      ),
    );
    expect(response).toMatchObject({
      protocol: "chat",
      id: "chatcmpl-up",
      createdAt: 5,
      content: [
        { type: "reasoning", text: "r" },
        { type: "text", text: "x" },
        { type: "tool_call", id: "call_chatcmplup_0", name: "f", arguments: '{"a":1}' },
      ],
      finish: { reason: "tool_calls", raw: "stop" },
      usage: { inputTokens: 3, outputTokens: 2 },
    });
  });

  it.each([
    ["stop", "stop"],
    ["length", "length"],
    ["max_tokens", "length"],
    ["content_filter", "content_filter"],
    ["function_call", "tool_calls"],
    ["tomorrow", "stop"],
  ])("T19: finish reason %s is %s", (raw, reason) => {
    const { finish } = chatCodec.decodeResponse(answer({ content: "x" }, {}, raw));
    expect(finish).toEqual({ reason, raw });
  });

  it("an error with status 200, and an answer without choices, are errors", () => {
    const failed = { error: { message: "no", code: 500 } };
    expect(faultOf(() => chatCodec.decodeResponse(failed))).toBe("upstream_error null");
    expect(faultOf(() => chatCodec.decodeResponse({ choices: [] }))).toBe("upstream_error null");
  });

  it("CONV-701 CONV-705 CONV-713 CONV-717: written as a chat answer, calls deriving the finish reason", () => {
    const written = chatCodec.encodeResponse(
      {
        protocol: "generate_content",
        id: "g",
        createdAt: 0,
        content: [
          { type: "text", text: "hi" },
          { type: "tool_call", id: "c", name: "f", arguments: "" },
        ],
        finish: { reason: "tool_calls", raw: "STOP" },
      },
      contextFor(),
    );
    expect(written).toEqual({
      id: "chatcmpl-01test",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "acme/talk",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "hi",
            refusal: null,
            annotations: [],
            tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          logprobs: null,
          finish_reason: "tool_calls",
        },
      ],
    });
  });

  const files = ["deepseek/chat", "openai/chat", "openai-compatible/chat"].flatMap((folder) =>
    recordings(folder, /(?<!error)\.json$/),
  );

  it.skipIf(files.length === 0)(
    "recorded answers are the same after reading, writing and reading (skipped where they are not beside the project)",
    () => {
      for (const { text } of files) {
        const first = chatCodec.decodeResponse(JSON.parse(text) as JsonObject);
        const second = chatCodec.decodeResponse(chatCodec.encodeResponse(first, contextFor()));
        expect(second.content).toEqual(first.content);
        expect(second.usage).toEqual(first.usage);
        expect(second.finish.reason).toBe(first.finish.reason);
      }
    },
  );
});

import { describe, expect, it } from "vitest";
import type { CanonicalRequest, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { contextFor, faultOf } from "../chat/support.ts";

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

describe("the reader of responses requests", () => {
  it("reads each field with a canonical meaning, and keeps the caller's name for it", () => {
    const request = decode({
      max_output_tokens: 50,
      temperature: 1.7,
      top_p: 0.5,
      presence_penalty: 1,
      parallel_tool_calls: false,
      reasoning: { effort: "ultra", summary: "auto", mode: "pro", context: "all_turns" },
      text: { format: { type: "json_object" }, verbosity: "low" },
      user: "u1",
      prompt_cache_key: "k",
      metadata: { a: "b" },
      store: true,
    });
    expect(request).toMatchObject({
      protocol: "responses",
      maxOutputTokens: 50,
      temperature: 1.7,
      topP: 0.5,
      presencePenalty: 1,
      parallelToolCalls: false,
      reasoning: { effort: "ultra", summary: "auto", mode: "pro", context: "all_turns" },
      outputFormat: { type: "json" },
      verbosity: "low",
      endUserId: "u1",
      promptCacheKey: "k",
      metadata: { a: "b" },
      store: true,
      native: [],
    });
    expect(request.names).toMatchObject({
      maxOutputTokens: "max_output_tokens",
      "reasoning.summary": "reasoning.summary",
      outputFormat: "text.format",
      verbosity: "text.verbosity",
    });
  });

  it("T33: keeps fields that only responses has, in request order, including hosted and namespace tools", () => {
    const request = decode({
      include: ["reasoning.encrypted_content"],
      input: [
        { role: "user", content: "hi" },
        { type: "apply_patch_call", call_id: "c", operation: {} },
        { type: "item_reference", id: "msg_1" },
        { id: "msg_2" },
        { role: "assistant", content: "x", phase: "commentary" },
      ],
      tools: [
        { type: "web_search" },
        { type: "function", name: "f" },
        { type: "namespace", name: "n" },
      ],
      tool_choice: { type: "web_search" },
      truncation: "auto",
      reasoning: { effort: "low", extra: 1 },
      previous_response_id: "resp_1",
      frequency_penalty: 9,
      stream_options: { include_obfuscation: false },
    });
    expect(request.native.map((field) => field.param)).toEqual([
      "input[1]",
      "input[2]",
      "input[3]",
      "input[4].phase",
      "include",
      "tools[0]",
      "tools[2]",
      "tool_choice",
      "truncation",
      "reasoning.extra",
      "previous_response_id",
      "frequency_penalty",
      "stream_options.include_obfuscation",
    ]);
    expect(request.tools).toEqual([{ name: "f" }]);
  });

  it("RESP-07: reads a string as one user message", () => {
    const asList = decode({ input: [{ role: "user", content: "hi" }] });
    expect(decode({ input: "hi" }).messages).toEqual(asList.messages);
  });

  it("RESP-09: reads instructions as the first system turn", () => {
    expect(decode({ instructions: "be kind" }).messages).toEqual([
      { role: "system", content: [text("be kind")] },
      { role: "user", content: [text("hi")] },
    ]);
  });

  it("RESP-08: reads messages, calls and results, with the items of one turn as one message", () => {
    const { messages } = decode({
      input: [
        { type: "message", role: "developer", content: [{ type: "input_text", text: "d" }] },
        { role: "user", content: "u" },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [
            { type: "summary_text", text: "a" },
            { type: "summary_text", text: "b" },
          ],
          encrypted_content: "zzz",
        },
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          status: "completed",
          content: [{ type: "output_text", text: "t", annotations: [] }],
        },
        { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
        { type: "function_call", call_id: "c2", name: "g", arguments: "" },
        { type: "function_call_output", call_id: "c1", output: "1" },
        {
          type: "function_call_output",
          call_id: "c2",
          output: [{ type: "input_image", image_url: "data:image/png;base64,AA" }],
        },
      ],
    });
    expect(messages).toEqual([
      { role: "system", developer: true, content: [text("d")] },
      { role: "user", content: [text("u")] },
      {
        role: "assistant",
        content: [
          {
            type: "reasoning",
            text: "a\n\nb",
            summary: true,
            signature: { protocol: "responses", value: "zzz" },
            id: "rs_1",
          },
          text("t"),
          { type: "tool_call", id: "c1", name: "f", arguments: "{}" },
          { type: "tool_call", id: "c2", name: "g", arguments: "" },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", callId: "c1", content: [text("1")] },
          {
            type: "tool_result",
            callId: "c2",
            content: [
              {
                type: "media",
                media: "image",
                source: { kind: "base64", mediaType: "image/png", data: "AA" },
              },
            ],
          },
        ],
      },
    ]);
  });

  it("reads every kind of part", () => {
    const content = [
      { type: "text", text: "a" },
      { type: "input_image", image_url: "https://x.test/a.png", detail: "low" },
      { type: "input_image", file_id: "file_1" },
      { type: "input_file", file_data: "data:application/pdf;base64,AA", filename: "a.pdf" },
      { type: "input_file", file_url: "https://x.test/a.pdf" },
      { type: "input_audio", input_audio: { data: "BB", format: "wav" } },
      { type: "refusal", refusal: "no" },
    ] as JsonObject[];
    const [message] = decode({ input: [{ role: "user", content }] }).messages;
    const media = { type: "media" };
    expect(message!.content).toEqual([
      text("a"),
      {
        ...media,
        media: "image",
        source: { kind: "url", url: "https://x.test/a.png" },
        detail: "low",
      },
      { ...media, media: "image", source: { kind: "file_id", fileId: "file_1" } },
      {
        ...media,
        media: "file",
        source: { kind: "base64", mediaType: "application/pdf", data: "AA" },
        filename: "a.pdf",
      },
      { ...media, media: "file", source: { kind: "url", url: "https://x.test/a.pdf" } },
      { ...media, media: "audio", source: { kind: "base64", mediaType: "audio/wav", data: "BB" } },
      { type: "refusal", text: "no" },
    ]);
  });

  it("refuses invalid bodies with the caller's field name", () => {
    expect(faultOf(() => decode({ top_logprobs: 21 }))).toBe(
      "integer_above_max_value top_logprobs",
    );
  });

  it.each<[JsonObject | string, object]>([
    ["auto", { type: "auto" }],
    ["required", { type: "required" }],
    [
      { type: "function", name: "f" },
      { type: "tool", name: "f" },
    ],
    [
      { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
      { type: "allowed", mode: "auto", names: ["f"] },
    ],
  ])("RESP-15: reads and writes tool_choice %j", (choice, expected) => {
    const request = decode({ tools: [{ type: "function", name: "f" }], tool_choice: choice });
    expect(request.toolChoice).toEqual(expected);
    expect(encode(request)["tool_choice"]).toEqual(choice);
  });

  it("RESP-17: reads and writes text.format", () => {
    const format = { type: "json_schema", name: "n", schema: { type: "object" }, strict: true };
    const request = decode({ text: { format } });
    expect(request.outputFormat).toEqual(format);
    expect(encode(request)["text"]).toEqual({ format });
  });
});

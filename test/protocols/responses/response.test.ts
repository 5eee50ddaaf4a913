import { describe, expect, it } from "vitest";
import type { JsonObject, Part } from "../../../src/protocols/canonical/request.ts";
import type { CanonicalResponse } from "../../../src/protocols/canonical/response.ts";
import type { AnswerContext } from "../../../src/protocols/codec.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { contextFor, faultOf, recordings } from "../chat/support.ts";

const decodeResponse = (body: JsonObject) => responsesCodec.decodeResponse(body);
const encodeResponse = (answer: CanonicalResponse, context: AnswerContext) =>
  responsesCodec.encodeResponse(answer, context);
const answer = (extra: JsonObject): JsonObject => ({
  id: "resp_up",
  object: "response",
  created_at: 5,
  status: "completed",
  model: "up",
  output: [],
  ...extra,
});
const response = (content: Part[], extra: Partial<CanonicalResponse> = {}): CanonicalResponse => ({
  protocol: "chat",
  id: "x",
  createdAt: 0,
  content,
  finish: { reason: "stop" },
  ...extra,
});

describe("the reader of whole responses answers", () => {
  it("reads reasoning, text, refusals, calls and pictures, in order", () => {
    const output = [
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "r" }],
        encrypted_content: "zzz",
      },
      { type: "reasoning", id: "rs_2", summary: [] },
      { type: "web_search_call", id: "ws_1", status: "completed" },
      {
        type: "message",
        content: [
          { type: "output_text", text: "t" },
          { type: "refusal", refusal: "no" },
        ],
      },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}" },
      { type: "image_generation_call", result: "AA", output_format: "webp" },
    ] as JsonObject[];
    expect(decodeResponse(answer({ output }))).toEqual({
      protocol: "responses",
      id: "resp_up",
      createdAt: 5,
      content: [
        {
          type: "reasoning",
          text: "r",
          summary: true,
          signature: { protocol: "responses", value: "zzz" },
          id: "rs_1",
        },
        { type: "text", text: "t" },
        { type: "refusal", text: "no" },
        { type: "tool_call", id: "call_1", name: "f", arguments: "{}" },
        {
          type: "media",
          media: "image",
          source: { kind: "base64", mediaType: "image/webp", data: "AA" },
        },
      ],
      finish: { reason: "tool_calls", raw: "completed" },
    });
  });

  it("reads texts and refusals that are null or missing as empty, as in streams", () => {
    const said = [
      { type: "output_text", text: null },
      { type: "output_text" },
      { type: "refusal" },
    ];
    const output = [{ type: "message", content: said }] as JsonObject[];
    const { content } = decodeResponse(answer({ output }));
    expect(content.map((part) => "text" in part && part.text)).toEqual(["", "", ""]);
  });

  it.each([
    [{}, "stop"],
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "length"],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, "content_filter"],
    [{ status: "incomplete" }, "length"],
  ])("T13: reads the end of %j as %s", (extra, reason) => {
    expect(decodeResponse(answer(extra as JsonObject)).finish.reason).toBe(reason);
  });

  it.each<[JsonObject]>([
    [{ status: "failed", error: { code: "server_error", message: "no" } }],
    [{ error: { message: "no" } }],
    [{ status: "queued" }],
    [{ status: "cancelled" }],
  ])("reads %j as an error", (extra) => {
    expect(faultOf(() => decodeResponse(answer(extra)))).toBe("upstream_error null");
  });
});

describe("the writer of whole responses answers", () => {
  it("RESP-51 RESP-52 RESP-53 CONV-702 CONV-706: writes the complete object, with values from the request", () => {
    const context = contextFor({
      protocol: "responses",
      maxOutputTokens: 9,
      temperature: 0.5,
      tools: [{ name: "f" }],
      toolChoice: { type: "tool", name: "f" },
      reasoning: { effort: "low" },
      metadata: { a: "b" },
      native: [{ param: "truncation", value: "auto" }],
    });
    const usage = {
      inputTokens: 36,
      cacheReadTokens: 30,
      cacheWriteTokens: 2,
      cacheWrite1hTokens: 0,
      outputTokens: 87,
      reasoningTokens: 80,
    };
    expect(encodeResponse(response([{ type: "text", text: "Hi" }], { usage }), context)).toEqual({
      id: "resp_01test",
      object: "response",
      created_at: 1_700_000_000,
      completed_at: null,
      status: "completed",
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: 9,
      max_tool_calls: null,
      model: "acme/talk",
      output: [
        {
          type: "message",
          id: "msg_01test_0",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: "low", summary: null },
      store: false,
      background: false,
      temperature: 0.5,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      text: { format: { type: "text" } },
      tool_choice: { type: "function", name: "f" },
      tools: [
        {
          type: "function",
          name: "f",
          description: null,
          parameters: { type: "object", properties: {} },
          strict: false,
        },
      ],
      truncation: "auto",
      service_tier: "default",
      metadata: { a: "b" },
      safety_identifier: null,
      prompt_cache_key: null,
      usage: {
        input_tokens: 36,
        input_tokens_details: { cached_tokens: 30, cache_write_tokens: 2 },
        output_tokens: 87,
        output_tokens_details: { reasoning_tokens: 80 },
        total_tokens: 123,
      },
    });
  });

  it("CONV-714: writes calls as separate items, separates texts around them, and joins adjacent texts", () => {
    const content: Part[] = [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "a" },
      { type: "refusal", text: "no" },
      { type: "tool_call", id: "call_1", name: "f", arguments: "" },
      { type: "text", text: "b" },
    ];
    const { output } = encodeResponse(response(content), contextFor());
    expect(output).toMatchObject([
      { type: "reasoning", id: "rs_01test_0", summary: [{ type: "summary_text", text: "hm" }] },
      {
        type: "message",
        content: [
          { type: "output_text", text: "a" },
          { type: "refusal", refusal: "no" },
        ],
      },
      {
        type: "function_call",
        id: "fc_01test_2",
        call_id: "call_1",
        name: "f",
        arguments: "{}",
        status: "completed",
      },
      { type: "message", content: [{ type: "output_text", text: "b" }] },
    ]);
  });

  it("CONV-710 RESP-54: writes a truncated answer as incomplete, with the reason", () => {
    const cut = (reason: "length" | "content_filter") =>
      encodeResponse(response([{ type: "text", text: "a" }], { finish: { reason } }), contextFor());
    expect(cut("length")).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ status: "incomplete" }],
    });
    expect(cut("content_filter")).toMatchObject({
      incomplete_details: { reason: "content_filter" },
    });
  });

  it("RESP-27: writes no other protocol's signature as encryption, nor an item for it alone", () => {
    const reasoning = (protocol: "responses" | "messages", text: string): Part => ({
      type: "reasoning",
      text,
      signature: { protocol, value: "zzz" },
    });
    const parts = [reasoning("messages", "Hm."), reasoning("messages", "")];
    const { output } = encodeResponse(
      response([...parts, reasoning("responses", "")]),
      contextFor(),
    );
    const summary = [{ type: "summary_text", text: "Hm." }];
    expect(output).toEqual([
      { type: "reasoning", id: "rs_01test_0", status: "completed", summary },
      {
        type: "reasoning",
        id: "rs_01test_1",
        status: "completed",
        summary: [],
        encrypted_content: "zzz",
      },
    ]);
  });

  it("CONV-702: writes no message for another vendor's empty text, as in a stream", () => {
    const call: Part = { type: "tool_call", id: "call_1", name: "f", arguments: "{}" };
    const { output } = encodeResponse(response([{ type: "text", text: "" }, call]), contextFor());
    expect(output).toMatchObject([{ type: "function_call", id: "fc_01test_0" }]);
  });

  it("CONV-702: writes one message around another vendor's signature or sound, as in a stream", () => {
    const text = (said: string): Part => ({ type: "text", text: said });
    const signature = { protocol: "generate_content", value: "zzz" } as const;
    const source = { kind: "base64", mediaType: "audio/wav", data: "UklG" } as const;
    const parts: Part[] = [
      text("One."),
      { type: "reasoning", text: "", signature },
      text(" Two."),
      { type: "media", media: "audio", source },
      text(" Three."),
    ];
    const { output } = encodeResponse(response(parts), contextFor());
    expect(output).toMatchObject([
      { id: "msg_01test_0", content: [{ text: "One." }, { text: " Two." }, { text: " Three." }] },
    ]);
  });

  const files = recordings("openai/responses", /(?<!error|error\.1)\.json$/);

  it.skipIf(files.length === 0)(
    "returns recorded answers unchanged after reading, writing and reading (skipped if recordings are missing)",
    () => {
      for (const { text } of files) {
        const first = decodeResponse(JSON.parse(text) as JsonObject);
        const second = decodeResponse(encodeResponse(first, contextFor()));
        // The gateway makes its own item ids, and always writes reasoning as a summary.
        const comparable = (parts: readonly Part[]) =>
          parts.map((part) =>
            part.type === "reasoning" ? { ...part, id: "", summary: true } : part,
          );
        expect(comparable(second.content)).toEqual(comparable(first.content));
        expect(second.usage).toEqual(first.usage);
        expect(second.finish).toEqual(first.finish);
      }
    },
  );
});

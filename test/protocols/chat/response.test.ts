import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { contextFor, faultOf, recordings } from "./support.ts";

describe("the codec of whole chat answers", () => {
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
    ["under the other kind's name", { function: { name: "f", input: { a: 1 } } }, '{"a":1}'],
    ["of a custom tool", { type: "custom", custom: { name: "f", input: "x" } }, "x"],
    [
      "of a custom tool, under the other kind's name",
      { type: "custom", custom: { name: "f", arguments: "x" } },
      "x",
    ],
    ["that are missing", { function: { name: "f" } }, "{}"],
    ["that are missing, of a custom tool", { type: "custom", custom: { name: "f" } }, ""],
  ])("T3: reads arguments %s as in a stream", (_what, call, text) => {
    const { content } = chatCodec.decodeResponse(answer({ tool_calls: [{ id: "a", ...call }] }));
    expect(content).toMatchObject([{ type: "tool_call", id: "a", name: "f", arguments: text }]);
  });

  it.each<[string, string, JsonObject?]>([
    ["stop", "stop"],
    ["length", "length"],
    ["max_tokens", "length"],
    ["content_filter", "content_filter"],
    ["function_call", "tool_calls", { function_call: { name: "look" } }],
    ["tomorrow", "stop"],
  ])("T19: reads the finish reason %s as %s", (raw, reason, members = {}) => {
    const { finish } = chatCodec.decodeResponse(answer({ content: "x", ...members }, {}, raw));
    expect(finish).toEqual({ reason, raw });
  });

  it("reads an error with status 200, and an answer without choices, as errors", () => {
    const failed = { error: { message: "no", code: 500 } };
    expect(faultOf(() => chatCodec.decodeResponse(failed))).toBe("upstream_error null");
    expect(faultOf(() => chatCodec.decodeResponse({ choices: [] }))).toBe("upstream_error null");
  });

  it("CONV-701 CONV-705 CONV-713 CONV-717: writes a chat answer whose calls set the finish reason", () => {
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
      system_fingerprint: "fp_tollgate",
    });
  });

  const files = ["deepseek/chat", "openai/chat", "openai-compatible/chat"].flatMap((folder) =>
    recordings(folder, /(?<!error)\.json$/),
  );

  it.skipIf(files.length === 0)(
    "returns recorded answers unchanged after reading, writing and reading (skipped if recordings are missing)",
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

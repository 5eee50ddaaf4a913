import { describe, expect, it } from "vitest";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../../support/grammar.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { decodeFrames, everyCut, framesOf, sse } from "./support.ts";

const base = { id: "up1", object: "chat.completion.chunk", created: 17, model: "up" };
const delta = (content: JsonObject, finish: string | null = null): JsonObject => ({
  ...base,
  choices: [{ index: 0, delta: content, finish_reason: finish }],
});
const call = (piece: JsonObject): JsonObject => delta({ tool_calls: [piece] });
const end = (reason: string): JsonObject => delta({}, reason);
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

/** The events of a stream of these chunks. Expects that each is valid. */
function read(...chunks: (JsonObject | string)[]): CanonicalEvent[] {
  const events = decodeFrames(chatCodec, framesOf(sse(...chunks)));
  expect(grammarFaults(events)).toEqual([]);
  return events;
}

/** The whole answer that the stream makes. */
const whole = (...chunks: (JsonObject | string)[]) => collect(read(...chunks));

describe("the reader of chat streams", () => {
  it("reads a plain stream, event by event", () => {
    const events = read(
      delta({ role: "assistant", content: "" }),
      delta({ content: "Hel" }),
      delta({ content: "lo" }),
      end("stop"),
      { ...base, choices: [], usage },
      "[DONE]",
    );
    expect(events.map((event) => event.type)).toEqual([
      "start",
      "text_start",
      "text_delta",
      "text_delta",
      "usage",
      "text_end",
      "finish",
    ]);
    expect(collect(events)).toMatchObject({
      protocol: "chat",
      id: "up1",
      createdAt: 17,
      content: [{ type: "text", text: "Hello" }],
      finish: { reason: "stop", raw: "stop" },
      usage: { inputTokens: 5, outputTokens: 3 },
    });
  });

  it("T1: reads text next to an empty list of calls as text", () => {
    const { content } = whole(delta({ content: "hi", tool_calls: [] }), end("stop"));
    expect(content).toEqual([{ type: "text", text: "hi" }]);
  });

  it.each<[string, JsonObject[], object[]]>([
    [
      "T2: reads whole arguments in the first piece",
      [call({ index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } })],
      [{ id: "a", name: "f", arguments: '{"x":1}' }],
    ],
    [
      "T3: reads arguments as an object",
      [call({ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } })],
      [{ id: "a", name: "f", arguments: '{"x":1}' }],
    ],
    [
      "T4: reads later pieces with empty id, name and content",
      [
        call({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
        delta({
          content: "",
          tool_calls: [{ index: 0, id: "", function: { name: "", arguments: '{"x"' } }],
        }),
        delta({
          content: "",
          tool_calls: [{ index: 0, id: "", function: { name: "", arguments: ":1}" } }],
        }),
      ],
      [{ id: "a", name: "f", arguments: '{"x":1}' }],
    ],
    [
      "T5: reads two calls in a row, both with index 0",
      [
        call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
        call({ index: 0, id: "b", function: { name: "g", arguments: "[]" } }),
      ],
      [
        { id: "a", arguments: "{}" },
        { id: "b", arguments: "[]" },
      ],
    ],
    [
      "T6: reads interleaved pieces of two calls",
      [
        call({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
        call({ index: 1, id: "b", function: { name: "g", arguments: "" } }),
        call({ index: 0, function: { arguments: '{"a"' } }),
        call({ index: 1, function: { arguments: '{"b"' } }),
        call({ index: 0, function: { arguments: ":0}" } }),
        call({ index: 1, function: { arguments: ":1}" } }),
      ],
      [
        { id: "a", arguments: '{"a":0}' },
        { id: "b", arguments: '{"b":1}' },
      ],
    ],
    [
      "T5 T6: reads interleaved pieces of two calls, all with index 0",
      [
        call({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
        call({ index: 0, id: "b", function: { name: "g", arguments: "" } }),
        call({ index: 0, id: "a", function: { arguments: '{"a":0}' } }),
        call({ index: 0, id: "b", function: { arguments: '{"b":1}' } }),
      ],
      [
        { id: "a", arguments: '{"a":0}' },
        { id: "b", arguments: '{"b":1}' },
      ],
    ],
    [
      "separates calls without index by their ids",
      [
        call({ id: "a", function: { name: "f", arguments: "{" } }),
        call({ id: "a", function: { arguments: "}" } }),
        call({ id: "b", function: { name: "f", arguments: "{}" } }),
      ],
      [
        { id: "a", arguments: "{}" },
        { id: "b", arguments: "{}" },
      ],
    ],
    [
      "reads a repeated id, and a new id in a later piece",
      [
        call({ index: 0, id: "a", function: { name: "f", arguments: "{" } }),
        call({ index: 0, id: "a", function: { name: "f", arguments: '"x":' } }),
        call({ index: 0, id: "zz", function: { arguments: "1}" } }),
      ],
      [{ id: "a", name: "f", arguments: '{"x":1}' }],
    ],
    [
      "reads a name that comes after the arguments began",
      [
        call({ index: 0, id: "a", function: { arguments: "{" } }),
        call({ index: 0, function: { name: "f", arguments: "}" } }),
      ],
      [{ id: "a", name: "f", arguments: "{}" }],
    ],
    [
      "reads indexes that begin at 1",
      [call({ index: 1, id: "a", function: { name: "f", arguments: "{}" } })],
      [{ id: "a", arguments: "{}" }],
    ],
    [
      "reads the deprecated function_call",
      [
        delta({ function_call: { name: "f", arguments: "{" } }),
        delta({ function_call: { arguments: "}" } }),
      ],
      [{ name: "f", arguments: "{}" }],
    ],
  ])("%s", (_what, chunks, expected) => {
    const { content, finish } = whole(...chunks, end("tool_calls"), "[DONE]");
    expect(content).toMatchObject(expected.map((part) => ({ type: "tool_call", ...part })));
    expect(content).toHaveLength(expected.length);
    expect(finish.reason).toBe("tool_calls");
  });

  it("T21: gives calls without ids unique ids in each answer", () => {
    const idsOf = (id: string) =>
      whole(
        { ...call({ index: 0, function: { name: "f", arguments: "{}" } }), id },
        { ...call({ index: 1, function: { name: "f", arguments: "{}" } }), id },
        end("tool_calls"),
      ).content.map((part) => (part.type === "tool_call" ? part.id : ""));
    const ids = [...idsOf("chatcmpl-1"), ...idsOf("chatcmpl-2")];
    expect(new Set(ids).size).toBe(4);
    expect(ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id))).toBe(true);
  });

  it("T7: reads text after a call as a separate block", () => {
    const { content } = whole(
      delta({ content: "a" }),
      call({ index: 0, id: "c", function: { name: "f", arguments: "{" } }),
      delta({ content: "b" }),
      call({ index: 0, function: { arguments: "}" } }),
      end("tool_calls"),
    );
    expect(content).toMatchObject([
      { type: "text", text: "a" },
      { type: "tool_call", arguments: "{}" },
      { type: "text", text: "b" },
    ]);
  });

  it("T11: derives the finish reason from calls, whatever reason the vendor sends", () => {
    const calls = [call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } })];
    expect(whole(...calls, end("stop")).finish).toEqual({ reason: "tool_calls", raw: "stop" });
    expect(whole(...calls, end("eos")).finish.reason).toBe("tool_calls");
    expect(whole(...calls, end("length")).finish.reason).toBe("length");
  });

  it("T18: reads reasoning in two spellings once; after text it is a separate block", () => {
    const { content } = whole(
      delta({ reasoning_content: "a", reasoning: "a" }),
      delta({ reasoning: "b" }),
      delta({ content: "x" }),
      delta({ reasoning_content: "c" }),
      end("stop"),
    );
    expect(content).toEqual([
      { type: "reasoning", text: "ab" },
      { type: "text", text: "x" },
      { type: "reasoning", text: "c" },
    ]);
  });

  it("T40: joins reasoning details and keeps them as the signature", () => {
    const { content } = whole(
      delta({
        reasoning: "th",
        reasoning_details: [{ type: "reasoning.text", text: "th", index: 0, format: "x" }],
      }),
      delta({
        reasoning: "ink",
        reasoning_details: [{ type: "reasoning.text", text: "ink", index: 0 }],
      }),
      delta({ reasoning_details: [{ type: "reasoning.text", signature: "sig", index: 0 }] }),
      delta({ content: "x" }),
      end("stop"),
    );
    const details = [
      { type: "reasoning.text", text: "think", index: 0, format: "x", signature: "sig" },
    ];
    expect(content[0]).toEqual({
      type: "reasoning",
      text: "think",
      signature: { protocol: "chat", value: JSON.stringify(details) },
    });
  });

  it("reads content as parts, with Mistral's thinking among them", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    const { content } = whole(
      delta({ content: [thinking] }),
      delta({ content: [{ type: "text", text: "yes" }] }),
      end("stop"),
    );
    expect(content).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "yes" },
    ]);
  });

  it("reads refusals, and content after the finish reason", () => {
    expect(whole(delta({ refusal: "no" }), end("stop")).content).toEqual([
      { type: "refusal", text: "no" },
    ]);
    const late = whole(delta({ content: "a" }, "stop"), delta({ content: "b" }), "[DONE]");
    expect(late.content).toEqual([{ type: "text", text: "ab" }]);
  });

  it("T16: reads a stream without finish reason and end marker as broken off", () => {
    expect(read(delta({ content: "half" })).at(-1)).toMatchObject({ type: "error" });
    expect(read().at(-1)).toMatchObject({ type: "error" });
    const cut = decodeFrames(chatCodec, framesOf(sse(delta({ content: "half" }))), {
      kind: "cut",
      message: "reset by peer",
    });
    expect(grammarFaults(cut)).toEqual([]);
    expect(cut.at(-1)).toEqual({ type: "error", message: "reset by peer" });
  });

  it("T16: ends with an error at an error frame and at a frame that is not JSON", () => {
    const error = { error: { message: "overloaded", code: 503 } };
    expect(read(delta({ content: "half" }), error, delta({ content: "late" })).at(-1)).toEqual({
      type: "error",
      message: "overloaded",
      code: "503",
    });
    expect(read(delta({ content: "half" }), "<html>").at(-1)).toMatchObject({ type: "error" });
    expect(read(delta({ content: "half" }), delta({}, "error")).at(-1)).toMatchObject({
      type: "error",
    });
  });

  it("T17: reads the same events at any cut", () => {
    const text = sse(
      delta({ content: "Grüß 👋" }),
      call({ index: 0, id: "a", function: { name: "f", arguments: '{"ö":"\u2028"}' } }),
      end("tool_calls"),
      { ...base, choices: [], usage },
      "[DONE]",
    ).replace("\n\n", "\r\n\r\n");
    const expected = decodeFrames(chatCodec, framesOf(text));
    for (const pieces of everyCut(text)) {
      expect(decodeFrames(chatCodec, framesOf(...pieces))).toEqual(expected);
    }
  });
});

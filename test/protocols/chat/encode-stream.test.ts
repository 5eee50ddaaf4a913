import { describe, expect, it } from "vitest";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../../support/grammar.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import {
  contextFor,
  dataOf,
  decodeFrames,
  encodeEvents,
  recordedFrames,
  recordings,
} from "./support.ts";

const blocks: CanonicalEvent[] = [
  { type: "start", protocol: "messages", id: "msg_1", createdAt: 1 },
  { type: "reasoning_start", block: "r" },
  { type: "reasoning_delta", block: "r", text: "hm" },
  { type: "reasoning_end", block: "r" },
  { type: "text_start", block: "t" },
  { type: "text_delta", block: "t", text: "Hi" },
  { type: "text_end", block: "t" },
  { type: "tool_call_start", block: "a", id: "call_a", name: "f" },
  { type: "tool_call_start", block: "b", id: "call_b", name: "g" },
  { type: "tool_call_delta", block: "a", arguments: '{"x":1}' },
  { type: "tool_call_end", block: "a" },
  { type: "tool_call_end", block: "b" },
  {
    type: "usage",
    usage: {
      inputTokens: 9,
      cacheReadTokens: 4,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 7,
      reasoningTokens: 2,
    },
  },
  { type: "finish", finish: { reason: "tool_calls" } },
];

describe("the writer of chat streams", () => {
  it("STREAM-03 STREAM-04 T9: writes the whole sequence, with an index for each call and an end marker", () => {
    const frames = dataOf(encodeEvents(chatCodec, blocks, contextFor({ includeUsage: true })));
    const common = {
      id: "chatcmpl-01test",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "acme/talk",
    };
    const step = (content: JsonObject, finish: string | null = null) => ({
      ...common,
      choices: [{ index: 0, delta: content, logprobs: null, finish_reason: finish }],
      usage: null,
    });
    const piece = (tool: JsonObject) => step({ tool_calls: [tool] });
    expect(frames).toEqual([
      step({ role: "assistant", content: "", refusal: null }),
      step({ reasoning_content: "hm" }),
      step({ content: "Hi" }),
      piece({ index: 0, id: "call_a", type: "function", function: { name: "f", arguments: "" } }),
      piece({ index: 1, id: "call_b", type: "function", function: { name: "g", arguments: "" } }),
      piece({ index: 0, function: { arguments: '{"x":1}' } }),
      piece({ index: 1, function: { arguments: "{}" } }),
      step({}, "tool_calls"),
      {
        ...common,
        choices: [],
        usage: {
          prompt_tokens: 9,
          completion_tokens: 7,
          total_tokens: 16,
          prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
      "[DONE]",
    ]);
  });

  it("writes no usage key for a caller that did not ask for it", () => {
    const frames = encodeEvents(chatCodec, blocks, contextFor());
    expect(frames.some(({ data }) => data.includes("usage"))).toBe(false);
  });

  it("CONV-702: writes all citations in one delta, with the finish reason: OpenAI's SDK keeps only the last list, LobeChat reads no other", () => {
    const cite = (url: string, start: number): CanonicalEvent => ({
      type: "citation",
      block: "t",
      citation: { url, title: url, start, end: start + 1 },
    });
    const cited: CanonicalEvent[] = [
      ...blocks.slice(0, 6),
      cite("https://a.example/", 0),
      cite("https://b.example/", 1),
      ...blocks.slice(6, -2),
      { type: "finish", finish: { reason: "tool_calls" } },
    ];
    const frames = dataOf(encodeEvents(chatCodec, cited, contextFor({})));
    const deltas = frames.flatMap((frame) =>
      typeof frame === "string"
        ? []
        : (frame["choices"] as { delta: JsonObject }[]).map(({ delta }) => delta),
    );
    const lists = deltas.filter((one) => "annotations" in one);
    const page = (url: string, index: number) => ({
      type: "url_citation",
      url_citation: { url, title: url, start_index: index, end_index: index + 1 },
    });
    expect(lists).toEqual([
      { annotations: [page("https://a.example/", 0), page("https://b.example/", 1)] },
    ]);
    expect(deltas.indexOf(lists[0]!)).toBe(deltas.length - 1);
    expect(frames.at(-2)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
  });

  it("writes all pictures in one delta before the end, because OpenAI's SDK keeps only the last list", () => {
    const show = (data: string): CanonicalEvent => ({
      type: "media",
      part: {
        type: "media",
        media: "image",
        source: { kind: "base64", data, mediaType: "image/png" },
      },
    });
    const shown: CanonicalEvent[] = [
      ...blocks.slice(0, 3),
      show("QQ=="),
      show("Qg=="),
      ...blocks.slice(3, -2),
      { type: "finish", finish: { reason: "stop" } },
    ];
    const frames = dataOf(encodeEvents(chatCodec, shown, contextFor({})));
    const lists = frames.flatMap((frame) =>
      typeof frame === "string"
        ? []
        : (frame["choices"] as { delta: JsonObject }[]).flatMap(
            ({ delta }) => delta["images"] ?? [],
          ),
    );
    const pictures = frames.filter((frame) => JSON.stringify(frame).includes('"images"'));
    expect([pictures.length, frames.indexOf(pictures[0]!)]).toEqual([1, frames.length - 3]);
    expect(lists).toEqual(
      ["QQ==", "Qg=="].map((data) => ({
        type: "image_url",
        image_url: { url: `data:image/png;base64,${data}` },
      })),
    );
  });

  it("T16: ends a broken stream with an error chunk and no end marker", () => {
    const broken: CanonicalEvent[] = [...blocks.slice(0, 3), { type: "error", message: "gone" }];
    for (const frames of [
      encodeEvents(chatCodec, broken, contextFor()),
      encodeEvents(chatCodec, blocks.slice(0, 3), contextFor(), { kind: "cut", message: "gone" }),
    ]) {
      const last = dataOf(frames).at(-1);
      expect(last).toMatchObject({
        choices: [{ finish_reason: "error" }],
        error: { message: "gone", type: "upstream_error", code: "upstream_error", param: null },
      });
    }
  });

  it("writes streams that read back unchanged", () => {
    const events = decodeFrames(
      chatCodec,
      encodeEvents(chatCodec, blocks, contextFor({ includeUsage: true })),
    );
    expect(grammarFaults(events)).toEqual([]);
    const { content, usage: usageRead, finish } = collect(events);
    const before = collect(blocks);
    expect(usageRead).toEqual(before.usage);
    expect(finish.reason).toBe("tool_calls");
    expect(content).toEqual(
      before.content.map((part) =>
        part.type === "tool_call" && part.arguments === "" ? { ...part, arguments: "{}" } : part,
      ),
    );
  });
});

const files = ["deepseek/chat", "openai/chat", "openai-compatible/chat"].flatMap((folder) =>
  recordings(folder, /chunks\.txt$|\.sse$/),
);

describe.skipIf(files.length === 0)(
  "a recorded chat stream (skipped if recordings are missing)",
  () => {
    it.each(files)(
      "is legal, complete, and equal after writing and reading again: $name",
      ({ text }) => {
        const events = decodeFrames(chatCodec, recordedFrames(text));
        expect(grammarFaults(events)).toEqual([]);
        const first = collect(events);
        expect(first.content.length).toBeGreaterThan(0);
        const again = decodeFrames(
          chatCodec,
          encodeEvents(chatCodec, events, contextFor({ includeUsage: true })),
        );
        expect(grammarFaults(again)).toEqual([]);
        const second = collect(again);
        expect(second.content).toEqual(first.content);
        expect(second.usage).toEqual(first.usage);
        expect(second.finish.reason).toBe(first.finish.reason);
      },
    );
  },
);

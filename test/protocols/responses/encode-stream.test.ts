import { describe, expect, it } from "vitest";
import type { SseEvent } from "../../../src/base/sse.ts";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../../support/grammar.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import {
  contextFor,
  dataOf,
  decodeFrames,
  encodeEvents,
  recordedFrames,
  recordings,
} from "../chat/support.ts";

const usage = {
  inputTokens: 9,
  cacheReadTokens: 4,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 7,
  reasoningTokens: 2,
};
const start: CanonicalEvent = { type: "start", protocol: "chat", id: "x", createdAt: 1 };
const text = (block: string, words: string): CanonicalEvent[] => [
  { type: "text_start", block },
  { type: "text_delta", block, text: words },
  { type: "text_end", block },
];
const finish: CanonicalEvent = { type: "finish", finish: { reason: "stop" } };
const encode = (...events: CanonicalEvent[]): SseEvent[] =>
  encodeEvents(responsesCodec, [start, ...events], contextFor());
const typesOf = (frames: readonly SseEvent[]) =>
  frames.map(({ event }) => event?.replace("response.", ""));

/**
 * The errors of a stream. Names and numbers must be right. Every item and part begins once, ends once, and is whole at the end.
 * An item that a failure cut never ends: only the last object has it.
 */
function faultsOf(frames: readonly SseEvent[]): string[] {
  const faults: string[] = [];
  const states = new Map<string, string>();
  const done: unknown[] = [];
  for (const [index, data] of dataOf(frames).entries()) {
    if (typeof data === "string") {
      if (index !== frames.length - 1) faults.push(`${data} before the end`);
      continue;
    }
    const type = data["type"] as string;
    if (frames[index]!.event !== type) faults.push(`${type} is named ${frames[index]!.event}`);
    if (data["sequence_number"] !== index) faults.push(`${type} has the wrong number`);
    const place = JSON.stringify(data["output_index"]);
    if (type.endsWith("item.added")) states.set(place, "open");
    if (type.endsWith("item.done")) {
      if (states.get(place) !== "open") faults.push(`item ${place} done without having begun`);
      states.set(place, "done");
      done[Number(place)] = data["item"];
    }
    const response = data["response"] as JsonObject | undefined;
    if (/completed|incomplete|failed/.test(type) && response) {
      const output = response["output"] as JsonObject[];
      const isFailed = type.endsWith("failed");
      const cut = isFailed ? output.entries().filter(([at]) => done[at] === undefined) : [];
      for (const [at, item] of cut) {
        states.set(String(at), "done");
        done[at] = item;
      }
      if (JSON.stringify(output) !== JSON.stringify(done)) faults.push("output differs");
    }
  }
  if ([...states.values()].includes("open")) faults.push("an item is not done");
  return faults;
}

describe("the writer of responses streams", () => {
  it("STREAM-03 STREAM-05 STREAM-06 STREAM-07: writes the whole sequence of a text", () => {
    const frames = encode(...text("t", "Hi"), { type: "usage", usage }, finish);
    const item = { type: "message", id: "msg_01test_0", role: "assistant" };
    const place = { item_id: "msg_01test_0", output_index: 0, content_index: 0 };
    const part = { type: "output_text", text: "Hi", annotations: [], logprobs: [] };
    const done = { ...item, status: "completed", content: [part] };
    const object = { id: "resp_01test", model: "acme/talk", created_at: 1_700_000_000 };
    const named = (sequence_number: number, name: string, members: object) => ({
      type: `response.${name}`,
      sequence_number,
      ...members,
    });
    expect(dataOf(frames)).toMatchObject([
      named(0, "created", {
        response: { ...object, status: "in_progress", output: [], usage: null },
      }),
      named(1, "in_progress", { response: { ...object, status: "in_progress" } }),
      named(2, "output_item.added", {
        output_index: 0,
        item: { ...item, status: "in_progress", content: [] },
      }),
      named(3, "content_part.added", { ...place, part: { ...part, text: "" } }),
      named(4, "output_text.delta", { ...place, delta: "Hi", logprobs: [] }),
      named(5, "output_text.done", { ...place, text: "Hi", logprobs: [] }),
      named(6, "content_part.done", { ...place, part }),
      named(7, "output_item.done", { output_index: 0, item: done }),
      named(8, "completed", {
        response: {
          ...object,
          status: "completed",
          output: [done],
          usage: {
            input_tokens: 9,
            input_tokens_details: { cached_tokens: 4 },
            output_tokens: 7,
            output_tokens_details: { reasoning_tokens: 2 },
            total_tokens: 16,
          },
        },
      }),
      "[DONE]",
    ]);
    expect(faultsOf(frames)).toEqual([]);
  });

  it("writes reasoning as a summary, with this protocol's own encryption", () => {
    const signature = { protocol: "responses", value: "zzz" } as const;
    const frames = encode(
      { type: "reasoning_start", block: "r" },
      { type: "reasoning_delta", block: "r", text: "hm" },
      { type: "reasoning_end", block: "r", signature },
      finish,
    );
    expect(typesOf(frames)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "completed",
      undefined,
    ]);
    expect(dataOf(frames)[7]).toMatchObject({
      item: {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "zzz",
      },
    });
    expect(faultsOf(frames)).toEqual([]);
  });

  it("T12 T13: writes interleaved calls, one without arguments, and the status completed", () => {
    const frames = encode(
      ...text("t", "Let me see."),
      { type: "tool_call_start", block: "a", id: "call_a", name: "f" },
      { type: "tool_call_start", block: "b", id: "call_b", name: "g" },
      { type: "tool_call_delta", block: "a", arguments: '{"x":' },
      { type: "tool_call_delta", block: "a", arguments: "1}" },
      { type: "tool_call_end", block: "b" },
      { type: "tool_call_end", block: "a" },
      { type: "finish", finish: { reason: "tool_calls" } },
    );
    expect(faultsOf(frames)).toEqual([]);
    expect(dataOf(frames).at(-2)).toMatchObject({
      type: "response.completed",
      response: {
        status: "completed",
        output: [
          { type: "message", status: "completed" },
          {
            type: "function_call",
            id: "fc_01test_1",
            call_id: "call_a",
            name: "f",
            arguments: '{"x":1}',
            status: "completed",
          },
          { type: "function_call", call_id: "call_b", name: "g", arguments: "{}" },
        ],
      },
    });
    expect(typesOf(frames).filter((type) => type === "function_call_arguments.done")).toHaveLength(
      2,
    );
  });

  it("STREAM-05: ends a text that is open when a call begins within its own message", () => {
    const frames = encode(
      { type: "text_start", block: "t" },
      { type: "text_delta", block: "t", text: "a" },
      { type: "tool_call_start", block: "c", id: "call_c", name: "f" },
      { type: "text_delta", block: "t", text: "b" },
      { type: "tool_call_end", block: "c" },
      { type: "text_end", block: "t" },
      ...text("u", "later"),
      finish,
    );
    expect(faultsOf(frames)).toEqual([]);
    expect(dataOf(frames).at(-2)).toMatchObject({
      response: {
        output: [
          { content: [{ text: "ab" }] },
          { type: "function_call" },
          { content: [{ text: "later" }] },
        ],
      },
    });
  });

  it("writes adjacent texts and refusals as parts of one message", () => {
    const frames = encode(
      ...text("a", "x"),
      { type: "refusal_start", block: "r" },
      { type: "refusal_delta", block: "r", text: "no" },
      { type: "refusal_end", block: "r" },
      finish,
    );
    expect(faultsOf(frames)).toEqual([]);
    expect(typesOf(frames)).toContain("refusal.done");
    expect(dataOf(frames).at(-2)).toMatchObject({
      response: {
        output: [{ content: [{ type: "output_text" }, { type: "refusal", refusal: "no" }] }],
      },
    });
  });

  it("CONV-710: ends a truncated answer, and its last message, as incomplete", () => {
    const frames = encode(...text("t", "half"), { type: "finish", finish: { reason: "length" } });
    expect(faultsOf(frames)).toEqual([]);
    expect(dataOf(frames).at(-2)).toMatchObject({
      type: "response.incomplete",
      response: {
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        output: [{ status: "incomplete" }],
      },
    });
  });

  it("T25: writes no message for an empty text, as in a whole answer", () => {
    const nothing: CanonicalEvent[] = [
      { type: "text_start", block: "t" },
      { type: "text_end", block: "t" },
    ];
    const events: CanonicalEvent[] = [
      { type: "start", protocol: "messages", id: "x", createdAt: 1 },
      ...nothing,
      ...callEvents("a", "{}"),
      { type: "finish", finish: { reason: "tool_calls" } },
    ];
    const frames = encodeEvents(responsesCodec, events, contextFor());
    expect(faultsOf(frames)).toEqual([]);
    expect(dataOf(frames).at(-2)).toMatchObject({
      response: { output: [{ type: "function_call" }] },
    });
    const whole = responsesCodec.encodeResponse(collect(events), contextFor());
    expect(dataOf(frames).at(-2)).toMatchObject({ response: { output: whole["output"] } });
  });

  const callEvents = (block: string, json: string): CanonicalEvent[] => [
    { type: "tool_call_start", block, id: `call_${block}`, name: "f" },
    { type: "tool_call_delta", block, arguments: json },
    { type: "tool_call_end", block },
  ];

  it.each([
    ["calls", [...callEvents("a", "{}"), ...callEvents("b", '{"x')], ["completed", "incomplete"]],
    [
      "a call and a text",
      [...callEvents("a", "{}"), ...text("t", "ha")],
      ["completed", "incomplete"],
    ],
    [
      "a text and a call",
      [...text("t", "ha"), ...callEvents("a", '{"x')],
      ["completed", "incomplete"],
    ],
  ])(
    "CONV-710 T12: marks only the last of truncated %s as incomplete, as in a whole answer",
    (_, said, states) => {
      const events: CanonicalEvent[] = [
        start,
        ...said,
        { type: "finish", finish: { reason: "length" } },
      ];
      const whole = responsesCodec.encodeResponse(collect(events), contextFor());
      expect(whole["output"]).toMatchObject(states.map((status) => ({ status })));
      const frames = encodeEvents(responsesCodec, events, contextFor());
      expect(faultsOf(frames)).toEqual([]);
      expect(dataOf(frames).at(-2)).toMatchObject({ response: { output: whole["output"] } });
      const done = frames.filter(({ event }) => event === "response.output_item.done");
      expect(done.map(({ data }) => JSON.parse(data))).toMatchObject(
        states.map((status) => ({ item: { status } })),
      );
    },
  );

  it.each([
    [{ type: "finish", finish: { reason: "tool_calls" } }],
    [{ type: "error", message: "gone" }],
  ] as [CanonicalEvent][])("T12: completes a call that ended before %o", (ending) => {
    const frames = encode(...callEvents("a", "{}"), ending);
    expect(faultsOf(frames)).toEqual([]);
    expect(dataOf(frames).at(-2)).toMatchObject({
      response: { output: [{ status: "completed" }] },
    });
  });

  it.each([
    ["a call", [{ type: "tool_call_start", block: "c", id: "call_c", name: "f" }]],
    ["a text", text("t", "half")],
  ] as [string, CanonicalEvent[]][])("T16: never ends %s that a failure cut", (_, said) => {
    const frames = encode(...said, { type: "error", message: "gone" });
    expect(typesOf(frames)).not.toContain("output_item.done");
    expect(dataOf(frames).at(-2)).toMatchObject({
      type: "response.failed",
      response: { output: [{ status: "incomplete" }] },
    });
  });

  it("T16: ends a broken stream as response.failed, with the content of open blocks so far", () => {
    const open: CanonicalEvent[] = [
      { type: "refusal_start", block: "r" },
      { type: "refusal_delta", block: "r", text: "n" },
      { type: "reasoning_start", block: "h" },
      { type: "reasoning_delta", block: "h", text: "Hm" },
      { type: "tool_call_start", block: "c", id: "call_c", name: "f" },
      { type: "tool_call_delta", block: "c", arguments: '{"x' },
    ];
    const byError = encode(...open, { type: "error", message: "gone" });
    const byCut = encodeEvents(responsesCodec, [start, ...open], contextFor(), {
      kind: "cut",
      message: "gone",
    });
    expect(byCut).toEqual(byError);
    expect(faultsOf(byError)).toEqual([]);
    expect(dataOf(byError).slice(-2)).toMatchObject([
      {
        type: "response.failed",
        response: {
          status: "failed",
          error: { code: "server_error", message: "gone" },
          output: [
            { content: [{ type: "refusal", refusal: "n" }] },
            { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
            { type: "function_call", arguments: '{"x', status: "incomplete" },
          ],
        },
      },
      "[DONE]",
    ]);
    const before = encodeEvents(responsesCodec, [], contextFor(), { kind: "cut", message: "gone" });
    expect(typesOf(before)).toEqual(["created", "failed", undefined]);
  });

  it("RESP-27: writes no item for another vendor's signature alone, and one for its own encryption", () => {
    const proof = (block: string, protocol: "generate_content" | "responses"): CanonicalEvent[] => [
      { type: "reasoning_start", block },
      { type: "reasoning_end", block, signature: { protocol, value: "zzz" } },
    ];
    const finish: CanonicalEvent = { type: "finish", finish: { reason: "stop" } };
    const events = [...text("t", "Hi"), ...proof("a", "generate_content"), finish];
    const frames = encode(...proof("o", "responses"), ...events);
    expect(faultsOf(frames)).toEqual([]);
    expect(dataOf(frames).at(-2)).toMatchObject({
      response: { output: [{ type: "reasoning", encrypted_content: "zzz" }, { type: "message" }] },
    });
  });

  it("fails if the events end without a finish", () => {
    expect(typesOf(encode(...text("t", "half"))).at(-2)).toBe("failed");
  });
});

// One recording has a line that is not JSON, and one is an upstream's error: neither is an answer.
const files = recordings("openai/responses", /chunks\.txt$/).filter(
  ({ name }) => !/error|parallel-tool-call-wrapper/.test(name),
);

describe.skipIf(files.length === 0)(
  "a recorded responses stream (skipped if recordings are missing)",
  () => {
    it.each(files)(
      "is legal, complete, and equal after writing and reading again: $name",
      ({ text: recorded }) => {
        const events = decodeFrames(responsesCodec, recordedFrames(recorded));
        expect(grammarFaults(events)).toEqual([]);
        const frames = encodeEvents(responsesCodec, events, contextFor());
        expect(faultsOf(frames)).toEqual([]);
        const again = decodeFrames(responsesCodec, frames);
        expect(grammarFaults(again)).toEqual([]);
        const [first, second] = [collect(events), collect(again)];
        expect([second.content, second.finish]).toEqual([first.content, first.finish]);
        // Only the vendor's own answer counts searches that ran at the vendor.
        const none = { webSearches: undefined, fileSearches: undefined };
        expect(second.usage).toEqual({ ...first.usage, ...none });
      },
    );
  },
);

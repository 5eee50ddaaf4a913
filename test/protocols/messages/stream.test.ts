import { describe, expect, it } from "vitest";
import { collect, toEvents } from "../../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../../support/grammar.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { codecs } from "../../../src/protocols/index.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";
import {
  answerContext,
  decodeAll,
  encodeAll,
  framesOf,
  recordingsOf,
} from "../canonical/support.ts";
import * as transcripts from "./transcripts.ts";

const decode = (bytes: Uint8Array, cut?: number) => decodeAll(messagesCodec, framesOf(bytes, cut));
const encode = (events: readonly CanonicalEvent[]) =>
  encodeAll(messagesCodec, events, answerContext);
const dataOf = (events: readonly CanonicalEvent[]) =>
  encode(events).map((frame) => JSON.parse(frame.data));

describe("the reader of messages streams", () => {
  it("reads thinking, text and a call", () => {
    const usage = {
      inputTokens: 104,
      cacheReadTokens: 90,
      cacheWriteTokens: 4,
      cacheWrite1hTokens: 3,
      reasoningTokens: 0,
    };
    const signature = { protocol: "messages", value: "c2lnbmVk" };
    expect(decode(transcripts.toolUse)).toEqual([
      { type: "start", protocol: "messages", id: "msg_01", createdAt: 0 },
      { type: "usage", usage: { ...usage, outputTokens: 1 }, coversStartOnly: true },
      { type: "reasoning_start", block: "0" },
      { type: "reasoning_delta", block: "0", text: "Let me see" },
      { type: "reasoning_delta", block: "0", text: "." },
      { type: "reasoning_end", block: "0", signature },
      { type: "text_start", block: "1" },
      { type: "text_delta", block: "1", text: "Größe: 三 " },
      { type: "text_delta", block: "1", text: "🙂\n" },
      { type: "text_end", block: "1" },
      { type: "tool_call_start", block: "2", id: "toolu_1", name: "look" },
      { type: "tool_call_delta", block: "2", arguments: '{"where": "the' },
      { type: "tool_call_delta", block: "2", arguments: ' shelf"}' },
      { type: "tool_call_end", block: "2" },
      { type: "usage", usage: { ...usage, outputTokens: 42 } },
      { type: "finish", finish: { reason: "tool_calls", raw: "tool_use" } },
    ]);
  });

  it("T17: reads the same at any cut", () => {
    const expected = decode(transcripts.toolUse);
    for (let at = 0; at <= transcripts.toolUse.length; at += 1) {
      expect(decode(transcripts.toolUse, at)).toEqual(expected);
    }
  });

  it("T2: reads the whole input from the start of a call", () => {
    expect(collect(decode(transcripts.wholeInput)).content).toEqual([
      { type: "tool_call", id: "toolu_1", name: "look", arguments: '{"where":"the shelf"}' },
    ]);
  });

  it("T7: reads text on a tool's block, and deltas without a start, as separate blocks", () => {
    const events = decode(transcripts.misplaced);
    expect(grammarFaults(events)).toEqual([]);
    expect(collect(events).content).toEqual([
      { type: "tool_call", id: "toolu_1", name: "look", arguments: "{}" },
      { type: "text", text: "Done." },
      { type: "reasoning", text: "Hm." },
    ]);
  });

  it("STREAM-04: accepts a stop reason without an end marker as the end", () => {
    expect(decode(transcripts.withoutMarker).slice(-2)).toMatchObject([
      { type: "text_end" },
      { type: "finish", finish: { reason: "stop" } },
    ]);
  });

  it.each([
    ["cut", transcripts.cut, "ended too early"],
    ["that fails", transcripts.failing, "Overloaded"],
    ["that starts again in the middle", transcripts.splicedStart, "anew"],
    ["of HTML", Buffer.from("data: <html>\n\n"), "not JSON"],
  ])("T16: ends a stream %s with an error, and closes its blocks", (_, bytes, message) => {
    const events = decode(bytes);
    expect(grammarFaults(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: "error",
      message: expect.stringContaining(message),
    });
  });

  it("needs no event lines, and counts a repeated start once", () => {
    expect(decode(transcripts.withoutEventLines)).toEqual(decode(transcripts.toolUse));
    expect(decode(transcripts.duplicateStart).filter(({ type }) => type === "start")).toHaveLength(
      1,
    );
  });

  const streams = recordingsOf("anthropic", ".chunks.txt");
  describe.skipIf(streams.length === 0)("for recorded streams (beside the repository only)", () => {
    it.each(streams)("STREAM-05: reads %s as legal events", (name, text) => {
      const lines = text.split("\n").filter(Boolean);
      const events = decodeAll(
        messagesCodec,
        lines.map((data) => ({ data })),
      );
      expect(grammarFaults(events)).toEqual([]);
      expect(events.at(-1)?.type).toBe(name.startsWith("spliced") ? "error" : "finish");
    });

    const finished = streams.filter(([name]) => !name.startsWith("spliced"));
    it.each(finished)(
      "STREAM-03: reads content that the writer and reader return unchanged: %s",
      (_, text) => {
        const lines = text.split("\n").filter(Boolean);
        const events = decodeAll(
          messagesCodec,
          lines.map((data) => ({ data })),
        );
        const again = decodeAll(messagesCodec, encode(events));
        expect(grammarFaults(again)).toEqual([]);
        expect(collect(again).content).toEqual(collect(events).content);
      },
    );
  });
});

describe("the writer of messages streams", () => {
  const start: CanonicalEvent = { type: "start", protocol: "chat", id: "x", createdAt: 1 };
  const finish: CanonicalEvent = { type: "finish", finish: { reason: "stop", raw: "stop" } };
  const text = (value: string): CanonicalEvent[] => [
    { type: "text_start", block: "t" },
    { type: "text_delta", block: "t", text: value },
    { type: "text_end", block: "t" },
  ];

  it("writes the protocol's own bytes", () => {
    const usage = {
      inputTokens: 100,
      cacheReadTokens: 90,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 2,
      reasoningTokens: 0,
    };
    const frames = encode([start, ...text("Hi"), { type: "usage", usage }, finish]);
    expect(frames.map(({ event, data }) => `${event} ${data}`)).toEqual([
      'message_start {"type":"message_start","message":{"id":"msg_01abc","type":"message","role":"assistant","model":"acme/talk","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":77,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":null,"output_tokens":0}}}',
      'content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      'content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}',
      'content_block_stop {"type":"content_block_stop","index":0}',
      'message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":90,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":2}}',
      'message_stop {"type":"message_stop"}',
    ]);
  });

  it("T44 CONV-818: writes the estimate at the start, and the true input without cache reads at the end", () => {
    const usage = {
      inputTokens: 100,
      cacheReadTokens: 90,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 2,
      reasoningTokens: 0,
    };
    const frames = dataOf([start, ...text("Hi"), { type: "usage", usage }, finish]);
    expect(frames[0].message.usage.input_tokens).toBe(77);
    expect(frames.at(-2).usage).toMatchObject({ input_tokens: 10, cache_read_input_tokens: 90 });
  });

  it("T5 T6: writes interleaved calls one after the other, each complete", () => {
    const frames = dataOf([
      start,
      { type: "tool_call_start", block: "a", id: "1", name: "f" },
      { type: "tool_call_start", block: "b", id: "2", name: "g" },
      { type: "tool_call_delta", block: "b", arguments: '{"y"' },
      { type: "tool_call_delta", block: "a", arguments: '{"x":' },
      { type: "tool_call_delta", block: "b", arguments: ":2}" },
      { type: "tool_call_end", block: "b" },
      { type: "tool_call_delta", block: "a", arguments: "1}" },
      { type: "tool_call_end", block: "a" },
      finish,
    ]).slice(1, -2);
    const order = frames.map(({ type, index }) => `${index} ${type.replace("content_block_", "")}`);
    expect([...new Set(order)]).toEqual([
      "0 start",
      "0 delta",
      "0 stop",
      "1 start",
      "1 delta",
      "1 stop",
    ]);
    expect(order).toEqual(order.toSorted((a, b) => a.charCodeAt(0) - b.charCodeAt(0)));
    const json = (index: number) =>
      frames
        .flatMap((one) => (one.index === index ? [one.delta?.partial_json ?? ""] : []))
        .join("");
    expect([json(0), json(1)]).toEqual(['{"x":1}', '{"y":2}']);
  });

  it("T25: writes no empty blocks", () => {
    const frames = dataOf([
      start,
      { type: "text_start", block: "t" },
      { type: "text_end", block: "t" },
      { type: "reasoning_start", block: "r" },
      { type: "reasoning_end", block: "r" },
      finish,
    ]);
    expect(frames.map(({ type }) => type)).toEqual([
      "message_start",
      "message_delta",
      "message_stop",
    ]);
  });

  it("writes signatures of this protocol, and no others", () => {
    const reasoning = (
      protocol: "messages" | "generate_content",
      redacted = false,
    ): CanonicalEvent[] => [
      { type: "reasoning_start", block: "r" },
      { type: "reasoning_end", block: "r", signature: { protocol, value: "s", redacted } },
    ];
    const blocks = (events: CanonicalEvent[]) => dataOf([start, ...events, finish]).slice(1, -2);
    expect(blocks(reasoning("messages"))).toMatchObject([
      { content_block: { type: "thinking" } },
      { delta: { type: "signature_delta", signature: "s" } },
      { type: "content_block_stop" },
    ]);
    expect(blocks(reasoning("messages", true))).toMatchObject([
      { content_block: { type: "redacted_thinking", data: "s" } },
      { type: "content_block_stop" },
    ]);
    expect(blocks(reasoning("generate_content"))).toEqual([]);
  });

  describe("CONV-219: thinking without this protocol's signature", () => {
    const thinks = (block: string): CanonicalEvent[] => [
      { type: "reasoning_start", block },
      { type: "reasoning_delta", block, text: "Hm." },
    ];
    const deltasOf = (events: readonly CanonicalEvent[]) =>
      dataOf(events).flatMap(({ delta, index }) => (delta?.type ? [[index, delta]] : []));
    const thinking = { type: "thinking_delta", thinking: "Hm." };
    const mark = { type: "signature_delta", signature: "gw_unsigned" };

    it.each([
      ["no signature", undefined],
      ["another protocol's", { protocol: "generate_content", value: "s" }],
      ["another gateway's mark", { protocol: "messages", value: "gw_unsigned" }],
    ] as const)("gets our mark as its last delta, with %s", (_, signature) => {
      const end: CanonicalEvent = { type: "reasoning_end", block: "r", signature };
      const events = [start, ...thinks("r"), end, ...text("Hi"), finish];
      const said = [1, { type: "text_delta", text: "Hi" }];
      expect(deltasOf(events)).toEqual([[0, thinking], [0, mark], said]);
    });

    it("gets our mark if its block never ended; text gets none", () => {
      const events: CanonicalEvent[] = [start, ...thinks("r"), ...text("Hi").slice(0, 2), finish];
      const said = [1, { type: "text_delta", text: "Hi" }];
      expect(deltasOf(events)).toEqual([[0, thinking], [0, mark], said]);
    });

    it("is marked once after two gateways, and elsewhere only its text is written", () => {
      const events = [start, ...thinks("r"), { type: "reasoning_end", block: "r" }, finish];
      const once = encode(events as CanonicalEvent[]);
      const decoded = decodeAll(messagesCodec, once);
      const again = encode(decoded);
      const contentOf = (frames: typeof once) => frames.slice(1).map(({ data }) => data);
      expect(contentOf(again).slice(0, -2)).toEqual(contentOf(once).slice(0, -2));
      for (const name of ["chat", "responses", "generate_content"] as const) {
        const encoded = JSON.stringify(encodeAll(codecs[name], decoded, answerContext));
        expect(encoded).toContain("Hm.");
        expect(encoded).not.toContain("gw_unsigned");
      }
    });
  });

  it.each([
    ["an error", [start, { type: "error", message: "Cut." }]],
    ["nothing", [start, { type: "text_start", block: "t" }]],
  ] as [string, CanonicalEvent[]][])(
    "T16: ends with an error event if the stream ends with %s",
    (_, events) => {
      const frames = dataOf(events);
      expect(frames.at(-1)).toMatchObject({ type: "error", error: { type: "api_error" } });
      expect(frames.map(({ type }) => type)).not.toContain("message_stop");
    },
  );

  it.each([
    [{ reason: "stop" }, "end_turn"],
    [{ reason: "stop", stopSequence: "END" }, "stop_sequence"],
    [{ reason: "length" }, "max_tokens"],
    [{ reason: "tool_calls" }, "tool_use"],
    // The format of vLLM.
    [{ reason: "tool_calls", raw: "tool_calls", stopSequence: "END" }, "tool_use"],
    [{ reason: "content_filter" }, "refusal"],
    [{ reason: "length", raw: "model_context_window_exceeded" }, "model_context_window_exceeded"],
  ] as const)("CONV-711: writes the finish %o as %s", (finishInfo, stopReason) => {
    expect(dataOf([start, { type: "finish", finish: finishInfo }]).at(-2).delta.stop_reason).toBe(
      stopReason,
    );
  });
});

describe("a whole messages answer", () => {
  const wire: JsonObject = {
    id: "msg_01",
    type: "message",
    role: "assistant",
    model: "acme/talk",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "cmVk" },
      { type: "text", text: "Hi" },
      { type: "tool_use", id: "toolu_1", name: "look", input: { where: "shelf" } },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 4,
      cache_read_input_tokens: 90,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 3 },
      output_tokens: 42,
    },
  };

  it("CONV-703 CONV-707 CONV-711 CONV-715 CONV-803 CONV-807 CONV-811: is unchanged after reading and writing", () => {
    const response = messagesCodec.decodeResponse(wire);
    expect(messagesCodec.encodeResponse(response, answerContext)).toEqual(wire);
  });

  it("CONV-219: has our mark on thinking without its own signature, and is read without one", () => {
    const part = { type: "reasoning", text: "Hm." } as const;
    const response = { ...messagesCodec.decodeResponse(wire), content: [part] };
    const answer = messagesCodec.encodeResponse(response, answerContext);
    expect(answer["content"]).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "gw_unsigned" },
    ]);
    expect(messagesCodec.decodeResponse(answer).content).toEqual([part]);
  });

  it("CONV-815 CONV-820: counts reasoning in the output, without a separate field", () => {
    const { usage } = messagesCodec.encodeResponse(
      {
        protocol: "generate_content",
        id: "r",
        createdAt: 0,
        content: [],
        finish: { reason: "stop" },
        usage: {
          inputTokens: 9,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          cacheWrite1hTokens: 0,
          outputTokens: 70,
          reasoningTokens: 20,
        },
      },
      answerContext,
    );
    expect(usage).toMatchObject({ input_tokens: 9, output_tokens: 70 });
    expect(JSON.stringify(usage)).not.toMatch(/reason|think/);
  });

  const answers = recordingsOf("anthropic", ".json");
  describe.skipIf(answers.length === 0)("from recordings (beside the repository only)", () => {
    it.each(answers)("T14: makes a legal stream: %s", (_, text) => {
      const response = messagesCodec.decodeResponse(JSON.parse(text));
      const events = toEvents(response);
      expect(grammarFaults(events)).toEqual([]);
      expect(collect(events)).toEqual(response);
      const again = decodeAll(messagesCodec, encode(events));
      expect(collect(again).content).toEqual(response.content);
    });
  });
});

import { describe, expect, it } from "vitest";
import { collect, toEvents } from "../../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../../support/grammar.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";
import {
  answerContext,
  decodeAll,
  encodeAll,
  framesOf,
  recordingsOf,
} from "../canonical/support.ts";
import * as transcripts from "./transcripts.ts";

const codec = generateContentCodec;
const decode = (bytes: Uint8Array, cut?: number) => decodeAll(codec, framesOf(bytes, cut));
const encode = (events: readonly CanonicalEvent[]) => encodeAll(codec, events, answerContext);
const dataOf = (events: readonly CanonicalEvent[]) =>
  encode(events).map((frame) => JSON.parse(frame.data));
const signature = { protocol: "generate_content", value: "c2lnbmVk" };

describe("the reader of generateContent streams", () => {
  it("CONV-717: reads thoughts, text and calls; calls that end with STOP finish as tool calls", () => {
    const usage = {
      inputTokens: 100,
      cacheReadTokens: 90,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
    };
    expect(decode(transcripts.toolUse)).toEqual([
      { type: "start", protocol: "generate_content", id: "resp-01", createdAt: 0 },
      { type: "reasoning_start", block: "0" },
      { type: "reasoning_delta", block: "0", text: "Let me see" },
      {
        type: "usage",
        usage: { ...usage, outputTokens: 0, reasoningTokens: 0 },
        coversStartOnly: true,
      },
      { type: "reasoning_delta", block: "0", text: "." },
      { type: "reasoning_end", block: "0" },
      { type: "text_start", block: "1" },
      { type: "text_delta", block: "1", text: "Größe: 三 " },
      { type: "text_delta", block: "1", text: "🙂\n" },
      { type: "text_end", block: "1" },
      { type: "tool_call_start", block: "2", id: "gc_resp-01_2", name: "look" },
      { type: "tool_call_delta", block: "2", arguments: '{"where":"shelf"}' },
      { type: "tool_call_end", block: "2", signature },
      { type: "tool_call_start", block: "3", id: "gc_resp-01_3", name: "look" },
      { type: "tool_call_delta", block: "3", arguments: "{}" },
      { type: "tool_call_end", block: "3" },
      { type: "usage", usage: { ...usage, outputTokens: 70, reasoningTokens: 20 } },
      { type: "finish", finish: { reason: "tool_calls", raw: "STOP" } },
    ]);
  });

  it("T17: reads the same at any cut", () => {
    const expected = decode(transcripts.toolUse);
    for (let at = 0; at <= transcripts.toolUse.length; at += 1) {
      expect(decode(transcripts.toolUse, at)).toEqual(expected);
    }
  });

  it("T21: makes ids for calls that differ between answers", () => {
    const ids = (bytes: Uint8Array) =>
      decode(bytes).flatMap((event) => (event.type === "tool_call_start" ? [event.id] : []));
    const other = Buffer.from(
      Buffer.from(transcripts.toolUse).toString().replaceAll("resp-01", "resp-02"),
    );
    const nameless = Buffer.from(
      Buffer.from(transcripts.toolUse).toString().replaceAll("responseId", "x"),
    );
    const all = [transcripts.toolUse, other, nameless, nameless].flatMap(ids);
    expect(new Set(all).size).toBe(8);
    for (const id of all) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });

  it("T38: keeps a signature in a separate part", () => {
    expect(collect(decode(transcripts.loneSignature)).content).toEqual([
      { type: "text", text: "Hi" },
      { type: "reasoning", text: "", signature },
    ]);
  });

  it("T2: joins arguments that come in pieces, and closes a call that was not closed", () => {
    const { content } = collect(decode(transcripts.partialArguments));
    expect(
      content.map((part) => part.type === "tool_call" && [part.name, JSON.parse(part.arguments)]),
    ).toEqual([
      [
        "cook",
        { items: [{ name: "Noodles" }, { "the name": "Beef" }], hot: true, minutes: 0, note: null },
      ],
      ["eat", {}],
    ]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("reads a blocked prompt as a content-filter finish without content", () => {
    expect(collect(decode(transcripts.blockedPrompt))).toMatchObject({
      content: [],
      finish: { reason: "content_filter", raw: "PROHIBITED_CONTENT" },
      usage: { inputTokens: 9 },
    });
  });

  it.each([
    ["cut", transcripts.cut, "ended too early"],
    ["that fails", transcripts.failing, "overloaded"],
    ["of HTML", Buffer.from("data: <html>\n\n"), "not JSON"],
  ])("T16: ends a stream %s with an error, and closes its blocks", (_, bytes, message) => {
    const events = decode(bytes);
    expect(grammarFaults(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: "error",
      message: expect.stringContaining(message),
    });
  });

  it.each(Object.entries(transcripts))("STREAM-05: reads %s as legal events", (_, bytes) => {
    expect(grammarFaults(decode(bytes))).toEqual([]);
  });

  const streams = recordingsOf("google", ".chunks.txt");
  describe.skipIf(streams.length === 0)("for recorded streams (beside the repository only)", () => {
    it.each(streams)(
      "STREAM-03 STREAM-05: reads legal events that the writer and reader return unchanged: %s",
      (_, text) => {
        const frames = text
          .split("\n")
          .filter(Boolean)
          .map((data) => ({ data }));
        const events = decodeAll(codec, frames);
        expect(grammarFaults(events)).toEqual([]);
        const again = decodeAll(codec, encode(events));
        expect(grammarFaults(again)).toEqual([]);
        // This protocol has no field for the time of an answer.
        expect({ ...collect(again), createdAt: 0 }).toEqual({ ...collect(events), createdAt: 0 });
      },
    );
  });
});

describe("the writer of generateContent streams", () => {
  const start: CanonicalEvent = { type: "start", protocol: "chat", id: "x", createdAt: 1 };
  const usage = {
    inputTokens: 9,
    cacheReadTokens: 4,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 70,
    reasoningTokens: 20,
  };

  it("CONV-819: writes the protocol's own bytes, with thoughts separate from the output", () => {
    const frames = encode([
      start,
      { type: "reasoning_start", block: "r" },
      { type: "reasoning_delta", block: "r", text: "Hm." },
      { type: "reasoning_end", block: "r", signature: { protocol: "messages", value: "s" } },
      { type: "text_start", block: "t" },
      { type: "text_delta", block: "t", text: "Hi" },
      { type: "text_end", block: "t" },
      { type: "usage", usage },
      { type: "finish", finish: { reason: "stop", raw: "stop" } },
    ]);
    const tail = '"modelVersion":"acme/talk","responseId":"01abc"}';
    expect(frames).toEqual([
      {
        data: `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm.","thought":true}]},"index":0}],${tail}`,
      },
      {
        data: `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"index":0}],${tail}`,
      },
      {
        data: `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":50,"totalTokenCount":79,"thoughtsTokenCount":20,"cachedContentTokenCount":4},${tail}`,
      },
    ]);
  });

  it("T2 T3 T6: writes neighbouring calls together in the last frame, in the order of their starts", () => {
    const frames = dataOf([
      start,
      { type: "tool_call_start", block: "a", id: "1", name: "f" },
      { type: "tool_call_start", block: "b", id: "2", name: "g" },
      { type: "tool_call_delta", block: "b", arguments: '{"y"' },
      { type: "tool_call_delta", block: "a", arguments: '{"x":1}' },
      { type: "tool_call_delta", block: "b", arguments: ":2}" },
      { type: "tool_call_end", block: "b" },
      { type: "tool_call_end", block: "a" },
      { type: "finish", finish: { reason: "tool_calls" } },
    ]);
    expect(frames.map((frame) => frame.candidates[0].content.parts)).toEqual([
      [
        {
          functionCall: { name: "f", args: { x: 1 }, id: "1" },
          thoughtSignature: "skip/thought/signature/validator",
        },
        { functionCall: { name: "g", args: { y: 2 }, id: "2" } },
      ],
    ]);
    expect(frames.at(-1).candidates[0].finishReason).toBe("STOP");
  });

  it("T16: writes complete calls before later text, and before the error of a broken stream", () => {
    const call = (block: string): CanonicalEvent[] => [
      { type: "tool_call_start", block, id: block, name: "f" },
      { type: "tool_call_delta", block, arguments: "{}" },
      { type: "tool_call_end", block },
    ];
    const frames = dataOf([
      start,
      ...call("a"),
      { type: "text_start", block: "t" },
      { type: "text_delta", block: "t", text: "Hm" },
      { type: "text_end", block: "t" },
      ...call("b"),
      { type: "error", message: "Cut." },
    ]);
    const parts = frames.map((frame) => frame.candidates?.[0].content.parts);
    expect(parts).toMatchObject([
      [{ functionCall: { id: "a" } }],
      [{ text: "Hm" }],
      [{ functionCall: { id: "b" } }],
      undefined,
    ]);
    expect(frames.at(-1)).toMatchObject({ error: { code: 502 } });
  });

  it.each([
    ["an error", [start, { type: "error", message: "Cut." }]],
    ["nothing", [start, { type: "text_start", block: "t" }]],
  ] as [string, CanonicalEvent[]][])(
    "T16: ends with an error frame if the stream ends with %s",
    (_, events) => {
      const frames = dataOf(events);
      expect(frames.at(-1)).toMatchObject({ error: { code: 502, status: "UNAVAILABLE" } });
      expect(JSON.stringify(frames)).not.toContain("finishReason");
    },
  );

  it.each([
    [{ reason: "stop", raw: "end_turn" }, "STOP"],
    [{ reason: "length", raw: "max_tokens" }, "MAX_TOKENS"],
    [{ reason: "tool_calls" }, "STOP"],
    [{ reason: "content_filter", raw: "refusal" }, "SAFETY"],
    [{ reason: "content_filter", raw: "RECITATION" }, "RECITATION"],
    [{ reason: "error" }, "OTHER"],
  ] as const)("CONV-712: writes the finish %o as %s", (finish, finishReason) => {
    const frames = dataOf([start, { type: "finish", finish }]);
    expect(frames.at(-1).candidates[0].finishReason).toBe(finishReason);
  });
});

describe("a whole generateContent answer", () => {
  const wire: JsonObject = {
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            { text: "Hm.", thought: true, thoughtSignature: "c2ln" },
            { text: "Hi" },
            {
              functionCall: { id: "c1", name: "look", args: { where: "shelf" } },
              thoughtSignature: "c2ln",
            },
          ],
        },
        finishReason: "STOP",
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 9,
      candidatesTokenCount: 50,
      totalTokenCount: 79,
      thoughtsTokenCount: 20,
      cachedContentTokenCount: 4,
    },
    modelVersion: "acme/talk",
    responseId: "resp-01",
  };

  it("CONV-704 CONV-708 CONV-712 CONV-716 CONV-804 CONV-808 CONV-812 CONV-816: is unchanged after reading and writing", () => {
    expect(codec.encodeResponse(codec.decodeResponse(wire), answerContext)).toEqual(wire);
  });

  const finishes: [string, string][] = [
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["IMAGE_SAFETY", "content_filter"],
    ["MALFORMED_FUNCTION_CALL", "error"],
    ["LANGUAGE", "stop"],
  ];
  it.each(finishes)("with the finish reason %s is read as %s", (finishReason, reason) => {
    const content = { role: "model", parts: [{ text: "So far" }] };
    const { finish } = codec.decodeResponse({ candidates: [{ content, finishReason }] });
    expect(finish).toEqual({ reason, raw: finishReason });
  });

  it.each(["SAFETY", "OTHER", "A_NEW_REASON"])(
    "has no candidates and is no error if its prompt was blocked: %s",
    (blockReason) => {
      const answer = { promptFeedback: { blockReason } };
      const { content, finish } = codec.decodeResponse(answer);
      expect(content).toEqual([]);
      expect(finish).toEqual({ reason: "content_filter", raw: blockReason });
      const events = decode(Buffer.from(`data: ${JSON.stringify(answer)}\n\n`));
      expect(events.at(-1)).toEqual({ type: "finish", finish });
    },
  );

  const answers = recordingsOf("google", ".json").filter(([name]) => !name.includes("429"));
  describe.skipIf(answers.length === 0)("from recordings (beside the repository only)", () => {
    it.each(answers)("T14: makes a legal stream: %s", (_, text) => {
      const response = codec.decodeResponse(JSON.parse(text));
      const events = toEvents(response);
      expect(grammarFaults(events)).toEqual([]);
      expect(collect(events)).toEqual(response);
    });
  });
});

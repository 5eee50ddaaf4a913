/** Chat streams of vendors that write the protocol oddly: no word and no call of the answer may be lost. T4 to T6, T14, T16. */
import { describe, expect, it } from "vitest";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { grammarFaults } from "../../support/grammar.ts";
import { decodeFrames, framesOf, sse } from "./support.ts";

const base = { id: "up1", object: "chat.completion.chunk", created: 17, model: "up" };
const chunk = (choice: JsonObject): JsonObject => ({ ...base, choices: [choice] });

function read(...chunks: (JsonObject | string)[]) {
  const events = decodeFrames(chatCodec, framesOf(sse(...chunks)));
  expect(grammarFaults(events)).toEqual([]);
  return events;
}
const whole = (...chunks: (JsonObject | string)[]) => collect(read(...chunks));
const call = (index: unknown, rest: JsonObject): JsonObject =>
  chunk({ index: 0, delta: { tool_calls: [{ index, ...rest } as JsonObject] } });

describe("numbers that are texts", () => {
  it('T4: the choice of number "0" is the first', () => {
    const { content, finish } = whole(
      chunk({ index: "0", delta: { content: "Hi" } }),
      chunk({ index: "0", delta: {}, finish_reason: "stop" }),
      "[DONE]",
    );
    expect(content).toEqual([{ type: "text", text: "Hi" }]);
    expect(finish.reason).toBe("stop");
  });

  it("T4: the only choice is read, even if its number is 1, as in a whole answer", () => {
    const { content, finish } = whole(
      { ...base, choices: [] },
      chunk({ index: 1, delta: { content: "Hi" } }),
      chunk({ index: 1, delta: {}, finish_reason: "length" }),
      "[DONE]",
    );
    expect(content).toEqual([{ type: "text", text: "Hi" }]);
    expect(finish.reason).toBe("length");
  });

  it("T6: pieces of calls go to the call of their number", () => {
    const { content } = whole(
      call("0", { id: "a", function: { name: "x", arguments: '{"p"' } }),
      call("1", { id: "b", function: { name: "y", arguments: '{"q"' } }),
      call("0", { function: { arguments: ":1}" } }),
      call("1", { function: { arguments: ":2}" } }),
      chunk({ index: 0, delta: {}, finish_reason: "tool_calls" }),
    );
    expect(content).toMatchObject([
      { name: "x", arguments: '{"p":1}' },
      { name: "y", arguments: '{"q":2}' },
    ]);
  });
});

describe("calls that share one id, as LocalAI sends them", () => {
  const first = { id: "up1", type: "function", function: { name: "x", arguments: '{"p":1}' } };
  const second = { ...first, function: { name: "x", arguments: '{"p":2}' } };
  const calls = [
    { id: "up1", arguments: '{"p":1}' },
    { id: "call_up1_1", arguments: '{"p":2}' },
  ];

  it("T21: stays the first one's in a stream, and the others get their own", () => {
    const { content } = whole(
      call(0, first),
      call(1, { ...second, function: { name: "x" } }),
      call(1, second),
      chunk({ index: 0, delta: {}, finish_reason: "tool_calls" }),
    );
    expect(content).toMatchObject(calls);
  });

  it("T21: stays the first one's in a whole answer, and the others get their own", () => {
    const message = { role: "assistant", content: null, tool_calls: [first, second] };
    const answer = { ...base, choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
    expect(chatCodec.decodeResponse(answer).content).toMatchObject(calls);
  });
});

describe("numbers of pieces", () => {
  it("T3 T6: pieces of a call that have its id go to it, whatever their number", () => {
    const { content } = whole(
      call(0, { id: "a", function: { name: "x", arguments: '{"p"' } }),
      call(1, { id: "b", function: { name: "y", arguments: '{"q"' } }),
      call(2, { id: "a", function: { arguments: ":1}" } }),
      call(3, { id: "b", function: { arguments: ":2}" } }),
      chunk({ index: 0, delta: {}, finish_reason: "tool_calls" }),
    );
    expect(content).toMatchObject([
      { id: "a", name: "x", arguments: '{"p":1}' },
      { id: "b", name: "y", arguments: '{"q":2}' },
    ]);
  });
});

describe("arguments that are sent once more", () => {
  const end = chunk({ index: 0, delta: {}, finish_reason: "tool_calls" });

  it("T3: as a whole at the end, are the arguments once", () => {
    const { content } = whole(
      call(0, { id: "a", function: { name: "x", arguments: '{"p"' } }),
      call(0, { function: { arguments: ":1}" } }),
      call(0, { id: "a", function: { name: "x", arguments: '{"p":1}' } }),
      end,
    );
    expect(content).toMatchObject([{ id: "a", name: "x", arguments: '{"p":1}' }]);
  });

  it("T3: are kept if they are a custom tool's text, or not all of it", () => {
    const { content } = whole(
      call(0, { id: "a", type: "custom", custom: { name: "x", input: "{}" } }),
      call(0, { custom: { input: "{}" } }),
      call(1, { id: "b", function: { name: "y", arguments: "[1," } }),
      call(1, { function: { arguments: "[1," } }),
      end,
    );
    expect(content).toMatchObject([{ arguments: "{}{}" }, { arguments: "[1,[1," }]);
  });
});

describe("reasoning among the parts of a content", () => {
  const thought = (text: string) => ({
    type: "reasoning",
    summary: [{ type: "summary_text", text, signature: "s" }],
  });

  it("is read as Claude at Databricks sends it, streamed and whole", () => {
    const expected = [
      { type: "reasoning", text: "Hmm." },
      { type: "text", text: "Hi" },
    ];
    const { content } = whole(
      chunk({ index: 0, delta: { content: [thought("Hm")] } }),
      chunk({ index: 0, delta: { content: [thought("m.")] } }),
      chunk({ index: 0, delta: { content: "Hi" } }),
      chunk({ index: 0, delta: {}, finish_reason: "stop" }),
    );
    expect(content).toEqual(expected);
    const message = { content: [thought("Hmm."), { type: "text", text: "Hi" }] };
    const answer = { ...base, choices: [{ index: 0, message, finish_reason: "stop" }] };
    expect(chatCodec.decodeResponse(answer).content).toEqual(expected);
    expect(chatCodec.direct.text(answer)).toBe("HiHmm.");
  });
});

describe("a finish reason in upper case", () => {
  it.each([
    ["MAX_TOKENS", "length"],
    ["STOP", "stop"],
    ["SAFETY", "content_filter"],
  ])("T19: %s is read as %s", (word, reason) => {
    const { finish } = whole(chunk({ index: 0, delta: { content: "Hi" }, finish_reason: word }));
    expect(finish).toMatchObject({ reason, raw: word });
  });
});

describe("a whole message in a chunk", () => {
  const message = { role: "assistant", content: "Hi" };

  it("T14: is the answer, if there was no delta", () => {
    const { content } = whole(chunk({ index: 0, message, finish_reason: "stop" }), "[DONE]");
    expect(content).toEqual([{ type: "text", text: "Hi" }]);
  });

  it("T14: repeats the answer, if there were deltas", () => {
    const { content } = whole(
      chunk({ index: 0, delta: { content: "Hi" }, message }),
      chunk({ index: 0, message, finish_reason: "stop" }),
    );
    expect(content).toEqual([{ type: "text", text: "Hi" }]);
  });
});

describe("an error without the word", () => {
  const hi = chunk({ index: 0, delta: { content: "Hi" } });

  it.each<JsonObject>([
    { code: "InternalError", message: "boom", request_id: "r1" },
    { detail: "boom" },
    { status: 500, message: "boom" },
    { id: "up1", choices: null, base_resp: { status_code: 1008, status_msg: "boom" } },
    { id: "up1", choices: [], base_resp: { status_code: 1002, status_msg: "boom" } },
  ])("T16: ends the stream as broken, whatever follows: %j", (error) => {
    expect(read(hi, error, "[DONE]").at(-1)).toMatchObject({ type: "error", message: "boom" });
  });

  it.each<JsonObject>([
    { object: "vendor.note", message: "fine", code: 1 },
    { message: "still thinking" },
    { status: "processing", message: "still thinking" },
    { code: "0", message: "success" },
    { code: 200, message: "fine" },
    { id: "up1", choices: [], message: "fine", code: 0 },
    { id: "up1", choices: [], base_resp: { status_code: 0, status_msg: "fine" } },
  ])("T16: is not seen in %j", (note) => {
    expect(read(hi, note, "[DONE]").at(-1)).toMatchObject({ type: "finish" });
  });
});

it.each([
  [["srvtoolu_1"], "stop", []],
  [["srvtoolu_1", "toolu_2"], "tool_calls", ["toolu_2"]],
])(
  "T11: calls that Claude's servers made are none of a converted answer's, as LiteLLM lists them: %j",
  (ids, reason, kept) => {
    const called = ids.map((id) => ({
      id,
      type: "function",
      function: { name: "f", arguments: "{}" },
    }));
    const text = { type: "text", text: "Noon." };
    const calls = kept.map((id) => ({ type: "tool_call", id, name: "f", arguments: "{}" }));
    const expected = { content: [text, ...calls], finish: { reason } };
    const message = { content: "Noon.", tool_calls: called };
    const choice = { index: 0, message, finish_reason: "tool_calls" };
    expect(chatCodec.decodeResponse({ id: "up1", choices: [choice] })).toMatchObject(expected);
    const streamed = whole(
      chunk({ index: 0, delta: { content: "Noon." } }),
      ...called.map((one, index) => call(index, one)),
      ...called.map((_one, index) => call(index, { function: { arguments: "" } })),
      chunk({ index: 0, delta: {}, finish_reason: "tool_calls" }),
    );
    expect(streamed).toMatchObject(expected);
  },
);

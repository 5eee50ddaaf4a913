/** Members that a direct messages route adds, because typed clients and Anthropic's SDKs fail without them. TXT-10, STREAM-04. */
import { expect, it } from "vitest";
import type { SseEvent } from "../../../src/base/sse.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";
import { tapAll } from "../canonical/support.ts";
import { contextFor } from "../chat/support.ts";

const { direct } = messagesCodec;
const frameOf = ([type, members]: readonly [string, JsonObject]): SseEvent => ({
  event: type,
  data: JSON.stringify({ type, ...members }),
});

/** Everything that the caller gets of a stream. */
function toldOf(...steps: (readonly [string, JsonObject])[]): JsonObject[] {
  const settings = { model: "acme/talk", request: {}, inputEstimate: 7, id: "1", createdAt: 5 };
  const { passed, released } = tapAll(direct.tap(settings), steps.map(frameOf));
  return [...passed, ...released].map(({ data }) => JSON.parse(data) as JsonObject);
}

const usage = { input_tokens: 3, output_tokens: 1 };
const start = ["message_start", { message: { usage } }] as const;
const end = ["message_delta", { delta: { stop_reason: "end_turn" }, usage }] as const;
const stop = ["message_stop", {}] as const;

it("TXT-10: the start of a stream is a whole message, and the end has its stop sequence", () => {
  const [begun, ended] = toldOf(start, end, stop);
  expect(begun!["message"]).toEqual({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "acme/talk",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  });
  expect(ended).toMatchObject({ delta: { stop_reason: "end_turn", stop_sequence: null }, usage });
});

it.each([
  [{ type: "text" }, { text: "" }],
  [{ type: "thinking", thinking: "" }, { signature: "" }],
  [{ type: "tool_use", id: "toolu_1", name: "f" }, { input: {} }],
  [{ type: "tool_use", name: "f", input: {} }, { id: "call_msg1_0" }],
])(
  "TXT-10: blocks of streams and whole answers have all that llama.cpp and others leave out: %j",
  (block, added) => {
    const begun = ["content_block_start", { index: 0, content_block: block }] as const;
    const [, told] = toldOf(start, begun, ["content_block_stop", { index: 0 }], end, stop);
    expect(told).toEqual({
      type: "content_block_start",
      index: 0,
      content_block: { ...block, ...added },
    });
    const answer = direct.answer({ id: "msg_1", content: [{ ...block }], usage }, "acme/talk");
    expect(answer["content"]).toEqual([{ ...block, ...added }]);
  },
);

it("TXT-10: a whole answer has its id, type, role and stop members", () => {
  const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
  for (const [content, stop_reason] of [
    [[call], "tool_use"],
    [[], "end_turn"],
  ] as const)
    expect(direct.answer({ content: [...content], usage }, "acme/talk")).toEqual({
      id: expect.stringMatching(/^msg_./),
      type: "message",
      role: "assistant",
      model: "acme/talk",
      content,
      stop_reason,
      stop_sequence: null,
      usage,
    });
});

it("STREAM-04: an end without its count of output has the one so far, on which the SDK fails otherwise", () => {
  const bare = [
    "message_delta",
    { delta: { stop_reason: "end_turn", stop_sequence: null } },
  ] as const;
  const counted = ["message_delta", { delta: {}, usage: { output_tokens: 9 } }] as const;
  const [, first, second] = toldOf(start, bare, counted, stop);
  expect(first).toMatchObject({ usage: { output_tokens: 9 } });
  expect(second).toMatchObject({ delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } });
});

it.each<JsonObject>([{ input_tokens: 3 }, { input_tokens: 3, output_tokens: null }])(
  "TXT-10: the usage of a start has the count of output, which typed clients require: %j",
  (counts) => {
    const [begun] = toldOf(["message_start", { message: { usage: counts } }], end, stop);
    expect(begun).toMatchObject({ message: { usage: { input_tokens: 3, output_tokens: 0 } } });
  },
);

it("TXT-10: a whole answer that is sent as a stream is completed too", () => {
  const content = [{ type: "tool_use", name: "f" }];
  const frames = direct.framesOf({ id: "msg_1", content, usage }, contextFor());
  const told = frames.map(({ data }) => JSON.parse(data) as JsonObject);
  expect(told[0]).toMatchObject({ message: { type: "message", role: "assistant", content: [] } });
  expect(told[1]).toMatchObject({ content_block: { id: "call_msg1_0", name: "f", input: {} } });
  expect(told.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use", stop_sequence: null } });
});

it.each([
  ["late usage after it", [end, ["message_delta", { delta: {}, usage }], stop]],
  ["no end but that in its start", [stop]],
] as const)("T11: no later end takes the reason for calls back: %s", (_, rest) => {
  const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
  const whole = { content: [call], usage, stop_reason: "end_turn" };
  const told = toldOf(["message_start", { message: whole }], ...rest);
  const ends = told.filter(({ type }) => type === "message_delta");
  const reason = { stop_reason: "tool_use", stop_sequence: null };
  expect(ends.map(({ delta }) => delta)).toEqual(ends.map(() => reason));
  expect(ends).toHaveLength(Math.max(1, rest.length - 1));
});

it("T11: a call from within Anthropic's code execution is no reason for calls, for its answer goes on", () => {
  const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };
  const made = { type: "tool_use", id: "toolu_1", name: "f", input: {}, caller };
  for (const [content, reason] of [
    [[made], "end_turn"],
    [[made, { ...made, id: "toolu_2", caller: { type: "direct" } }], "tool_use"],
  ] as const) {
    const whole = { content: [...content], usage, stop_reason: "end_turn" };
    expect(direct.answer(whole, "acme/talk")["stop_reason"]).toBe(reason);
    const blocks = content.flatMap((content_block, index) => [
      ["content_block_start", { index, content_block }] as const,
      ["content_block_stop", { index }] as const,
    ]);
    const told = toldOf(start, ...blocks, end, stop);
    expect(told.at(-2)).toMatchObject({ delta: { stop_reason: reason } });
  }
});

it("BILL-01: a refusal after a pass that its totals leave out is billed", () => {
  const refused = { content: [], stop_reason: "refusal", usage: { ...usage, output_tokens: 0 } };
  expect(direct.usage(refused)).toMatchObject({ inputTokens: 3, unbilled: 1 });
  const iterations = [{ type: "compaction", input_tokens: 600, output_tokens: 5 }];
  const told = direct.usage({ ...refused, usage: { ...refused.usage, iterations } });
  expect(told).toMatchObject({ inputTokens: 603, outputTokens: 5 });
  expect(told).not.toHaveProperty("unbilled");
});

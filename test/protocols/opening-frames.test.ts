/** Which frames only open a stream: until one says more, another provider may answer. docs/decisions.md "Opening frames". */
import { expect, it } from "vitest";
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { streamingRoute } from "../matrix/passing.ts";

const protocols: readonly ProtocolName[] = ["chat", "responses", "messages", "generate_content"];

const choices = (...all: JsonObject[]): JsonObject => ({
  id: "c",
  choices: all.map((choice, index) => ({ index, ...choice })),
});
const delta = (told: JsonObject): JsonObject => choices({ delta: told, finish_reason: null });
const start = (more: JsonObject = {}): JsonObject => ({
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 9, output_tokens: 1 },
    ...more,
  },
});
const response = (name: string, more: JsonObject = {}): JsonObject => ({
  type: `response.${name}`,
  response: { id: "r", object: "response", created_at: 1, output: [], ...more },
});
const candidate = (content: JsonObject, more: JsonObject = {}): JsonObject => ({
  candidates: [{ index: 0, content, ...more }],
});
const failed = { code: "server_error", message: "It broke." };
const usage = { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 };

/** Frames that say nothing yet, by protocol. */
const opening: Readonly<Record<ProtocolName, readonly JsonObject[]>> = {
  chat: [
    // Azure's first frame.
    { id: "", choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
    { id: "c", choices: [], usage },
    { id: "c", object: "chat.completion.chunk" },
    { usage },
    delta({ role: "assistant" }),
    delta({ role: "assistant", content: "", refusal: null, tool_calls: [] }),
    choices({ delta: {} }, { delta: { role: "assistant", content: null } }),
    choices({ delta: null, finish_reason: "" }),
    { error: { message: "It broke.", code: 503 } },
  ],
  responses: [
    ...["created", "queued", "in_progress"].map((name) => response(name)),
    { type: "keepalive", sequence_number: 3 },
    { type: "error", ...failed },
    response("failed", { status: "failed", error: failed }),
    response("failed", { status: "failed", error: failed, output: [{ type: "message" }] }),
    // Some vendors end each answer with the same event.
    response("completed", { status: "failed", error: failed }),
  ],
  messages: [
    start(),
    start({ id: "again" }),
    { type: "ping" },
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  ],
  generate_content: [
    { usageMetadata: { promptTokenCount: 9 }, modelVersion: "x" },
    candidate({ role: "model" }),
    candidate({ role: "model", parts: [] }),
    { promptFeedback: { safetyRatings: [] } },
    { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } },
  ],
};

/** Frames that say something, or end the answer. */
const saying: Readonly<Record<ProtocolName, readonly JsonObject[]>> = {
  chat: [
    delta({ content: "Hi" }),
    delta({ content: " " }),
    delta({ reasoning_content: "Hm" }),
    delta({ refusal: "No" }),
    delta({ tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "" } }] }),
    delta({ audio: { id: "a" } }),
    // A member that the gateway does not know.
    delta({ role: "assistant", content: "", thoughts: { step: 1 } }),
    choices({ delta: {} }, { delta: { content: "Hi" } }),
    // llama.cpp's progress in a long prompt, asked for by `return_progress`.
    { ...delta({ role: "assistant", content: null }), prompt_progress: { total: 9, processed: 3 } },
    { event: "status_of_the_future" },
    choices({ delta: {}, finish_reason: "stop" }),
    choices({ message: { role: "assistant", content: "Hi" }, finish_reason: null }),
  ],
  responses: [
    response("created", { output: [{ type: "message", content: [] }] }),
    response("completed", { status: "completed" }),
    response("incomplete", { status: "incomplete" }),
    { type: "response.output_item.added", output_index: 0, item: { type: "reasoning" } },
    { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Hi" },
    { type: "response.of_the_future" },
  ],
  messages: [
    start({ content: [{ type: "text", text: "Hi" }] }),
    start({ stop_reason: "end_turn" }),
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
    { type: "content_block_start", index: 0, content_block: { type: "server_tool_use", id: "s" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "event_of_the_future" },
  ],
  generate_content: [
    candidate({ parts: [{ text: "Hi" }] }),
    candidate({ parts: [{ text: "", thoughtSignature: "s" }] }),
    candidate({ role: "model" }, { finishReason: "STOP" }),
    { promptFeedback: { blockReason: "SAFETY" } },
  ],
};

const event = (frame: JsonObject) => ({
  ...(typeof frame["type"] === "string" ? { event: frame["type"] } : {}),
  data: JSON.stringify(frame),
});

const pairs = protocols.flatMap((caller) => protocols.map((upstream) => ({ caller, upstream })));

it.each(pairs)(
  "a $upstream stream for $caller opens with frames that say nothing, until one says something",
  ({ caller, upstream }) => {
    const isOpeningAfter = (...frames: readonly JsonObject[]): boolean => {
      const tap = streamingRoute(caller, upstream).tap();
      expect(tap.seen.isOpening).toBe(true);
      for (const frame of frames) tap.push(event(frame));
      return tap.seen.isOpening;
    };
    const begins = opening[upstream].filter((frame) => !("error" in frame));
    for (const frame of opening[upstream]) {
      expect([isOpeningAfter(frame), frame]).toEqual([true, frame]);
      expect([isOpeningAfter(...begins.slice(0, 2), frame), frame]).toEqual([true, frame]);
    }
    for (const frame of saying[upstream]) {
      expect([isOpeningAfter(frame), frame]).toEqual([false, frame]);
      // A stream that has begun stays begun.
      expect([isOpeningAfter(frame, ...begins), frame]).toEqual([false, frame]);
    }
    // A repeated start of an answer with content is no new opening.
    expect(isOpeningAfter(saying[upstream][0]!, opening[upstream][0]!)).toBe(false);
  },
);

it("a ConverseStream opens with a frame for which nothing is sent", () => {
  const body = { model: "acme/x", messages: [{ role: "user", content: "Hi" }] };
  const tap = routeOf("chat", "converse", body, { stream: true }).tap();
  expect(tap.push({ event: "messageStart", data: '{"role":"assistant"}' })).toEqual([]);
  const text = { contentBlockIndex: 0, delta: { text: "Hi" } };
  expect(tap.push({ event: "contentBlockDelta", data: JSON.stringify(text) })).not.toEqual([]);
  expect(tap.seen.isOpening).toBe(false);
});

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import { formatSse } from "../../../src/base/sse.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { dataOf, decodeFrames, everyCut, framesOf, tapped } from "../chat/support.ts";

const { direct } = responsesCodec;
const base = { id: "resp_up", object: "response", created_at: 5, model: "up-large-2026" };
const usageOf = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
});
const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
const item = { type: "message", id: "msg_1", role: "assistant" };

/** The frames of a stream: the type, then the other members. */
const sse = (...events: [string, JsonObject][]): string =>
  events
    .map(([type, members], index) =>
      formatSse({
        event: type,
        data: JSON.stringify({ type, sequence_number: index, ...members }),
      }),
    )
    .join("");
const begun: [string, JsonObject][] = [
  ["response.created", { response: { ...base, status: "in_progress", output: [] } }],
  ["response.in_progress", { response: { ...base, status: "in_progress", output: [] } }],
  [
    "response.output_item.added",
    { output_index: 0, item: { ...item, status: "in_progress", content: [] } },
  ],
  ["response.output_text.delta", { ...place, delta: "Grüß ", logprobs: [] }],
  ["response.output_text.delta", { ...place, delta: "dich 👋", logprobs: [], obfuscation: "x1" }],
];
const ended = (type: string, extra: JsonObject = {}): [string, JsonObject] => [
  `response.${type}`,
  { response: { ...base, status: type, output: [], usage: usageOf(36, 87), ...extra } },
];
const transcript = sse(...begun, ended("completed"));

describe("the tap of a responses stream", () => {
  it("TXT-11 T37: puts the canonical model into frames with a response object, and passes the others byte for byte", () => {
    const frames = framesOf(transcript);
    const { tap, passed } = tapped(direct, frames);
    expect(passed).toHaveLength(5);
    expect(passed.slice(2)).toEqual(frames.slice(2, 5));
    const all = [...passed, ...tap.release()];
    expect(JSON.stringify(all)).not.toContain("up-large");
    expect(all.map(({ event }) => event)).toEqual([...frames.map(({ event }) => event), undefined]);
    expect(dataOf(all)[0]).toMatchObject({
      response: { id: "resp_up", model: "acme/talk", temperature: 1 },
    });
  });

  it("STREAM-07: holds back the terminal event, which has the usage, until its release, and ends with [DONE]", () => {
    const { tap } = tapped(direct, framesOf(transcript));
    expect(tap.seen.ended).toBe(true);
    expect(dataOf(tap.release())).toMatchObject([
      { type: "response.completed", sequence_number: 5, response: { usage: usageOf(36, 87) } },
      "[DONE]",
    ]);
    expect(tap.release()).toEqual([]);
  });

  it("T45: reads usage from completed, incomplete and failed responses", () => {
    for (const type of ["completed", "incomplete", "failed"]) {
      const { tap } = tapped(direct, framesOf(sse(...begun, ended(type))));
      expect(tap.seen.usage).toMatchObject({ inputTokens: 36, outputTokens: 87 });
      expect(tap.seen.ended).toBe(true);
    }
  });

  it("T16 T60: a failed response stays one when the vendor's end marker follows", () => {
    const error = { code: "server_error", message: "fell over" };
    const stream = sse(...begun, ended("failed", { error }));
    const { tap } = tapped(direct, [...framesOf(stream), { data: "[DONE]" }]);
    expect(tap.seen.error).toMatchObject({ message: "fell over" });
    expect(tap.release()).toEqual([]);
  });

  it("T60: a cancelled response is no answer, and reaches the caller as the vendor sent it", () => {
    const { tap } = tapped(direct, framesOf(sse(...begun, ended("cancelled"))));
    expect(tap.seen.error).toBeDefined();
    expect(tap.release()).toEqual([]);
    expect(dataOf(tap.fail(new GatewayError("upstream_error", "ours")))).toMatchObject([
      { type: "response.cancelled", response: { status: "cancelled" } },
      "[DONE]",
    ]);
  });

  it.each(["failed", "cancelled"])(
    "T16 T60: a %s response in an event of a complete one is no answer, and does not look complete",
    (status) => {
      const failed = ended("completed", { status, error: { code: "x", message: "boom" } });
      const frames = framesOf(sse(...begun, failed));
      const { tap } = tapped(direct, frames);
      expect(tap.seen.error).toMatchObject({ message: "boom" });
      expect(tap.release()).toEqual([]);
      expect(dataOf(tap.fail(new GatewayError("upstream_error", "ours")))).toMatchObject([
        { type: "response.failed", response: { status: "failed" } },
        "[DONE]",
      ]);
      expect(direct.answerFromFrames(frames)).toBeUndefined();
      const events = decodeFrames(responsesCodec, frames);
      expect(events.at(-1)).toMatchObject({ type: "error", message: "boom" });
    },
  );

  it.each([
    ["completed", "stop"],
    ["incomplete", "length"],
    [undefined, "stop"],
  ])(
    "STREAM-04 STREAM-07: an answer of status %s that ends with response.done is complete, and gets the event that clients wait for",
    (status, reason) => {
      const last = ended("done", { status: status ?? null });
      const frames = framesOf(sse(...begun, last));
      const { tap } = tapped(direct, frames);
      expect(tap.seen).toMatchObject({ ended: true, error: undefined });
      expect(tap.seen.usage).toMatchObject({ inputTokens: 36, outputTokens: 87 });
      const type = `response.${status ?? "completed"}`;
      const [end, marker] = tap.release();
      expect(end?.event).toBe(type);
      expect(dataOf([end!])).toMatchObject([{ type, response: { usage: usageOf(36, 87) } }]);
      expect(marker?.data).toBe("[DONE]");
      const events = decodeFrames(responsesCodec, frames);
      expect(events.at(-1)).toMatchObject({ type: "finish", finish: { reason } });
    },
  );

  it("T16: a failed response that ends with response.done is no answer", () => {
    const failed = ended("done", { status: "failed", error: { code: "x", message: "boom" } });
    const frames = framesOf(sse(...begun, failed));
    const { tap } = tapped(direct, frames);
    expect(tap.seen.error).toMatchObject({ message: "boom" });
    expect(dataOf(tap.fail(new GatewayError("upstream_error", "ours")))).toMatchObject([
      { type: "response.failed", response: { status: "failed" } },
      "[DONE]",
    ]);
    expect(direct.answerFromFrames(frames)).toBeUndefined();
  });

  it("T17: passes the same frames at any cut", () => {
    const whole = tapped(direct, framesOf(transcript));
    for (const pieces of everyCut(transcript)) {
      const cut = tapped(direct, framesOf(...pieces));
      expect(cut.passed).toEqual(whole.passed);
      expect(cut.tap.seen.text).toBe("Grüß dich 👋");
    }
  });

  it("adds missing event lines, and omits the upstream's own end marker", () => {
    const frames = framesOf(transcript).map(({ data }) => ({ data }));
    const { tap, passed } = tapped(direct, [...frames, { data: "[DONE]" }]);
    expect(passed.map(({ event }) => event)).toEqual(begun.map(([type]) => type));
    expect(dataOf(tap.release()).filter((data) => data === "[DONE]")).toHaveLength(1);
  });

  it("T16: ends a broken stream with response.failed, with the next sequence number, and [DONE]", () => {
    const { tap } = tapped(direct, framesOf(sse(...begun)));
    expect(tap.seen.ended).toBe(false);
    const [failed, marker] = tap.fail(new GatewayError("upstream_error", "gone"));
    expect(failed!.event).toBe("response.failed");
    expect(JSON.parse(failed!.data)).toMatchObject({
      type: "response.failed",
      sequence_number: 5,
      response: {
        id: "resp_up",
        model: "acme/talk",
        status: "failed",
        error: { code: "server_error", message: "gone" },
      },
    });
    expect(marker).toEqual({ data: "[DONE]" });
    expect(tap.push({ data: JSON.stringify({ type: "response.output_text.delta" }) })).toEqual([]);
  });

  it("T16: reports a failure before the first response object as an error event in both dialects, then as a failed response", () => {
    const { tap } = tapped(direct, []);
    const [event, ...others] = tap.fail(new GatewayError("upstream_error", "gone"));
    expect(event!.event).toBe("error");
    expect(JSON.parse(event!.data)).toEqual({
      type: "error",
      sequence_number: 0,
      code: "upstream_error",
      message: "gone",
      param: null,
      error: { message: "gone", type: "upstream_error", param: null, code: "upstream_error" },
    });
    const error = { code: "server_error", message: "gone" };
    expect(dataOf(others)).toMatchObject([
      {
        type: "response.failed",
        sequence_number: 1,
        response: { id: "resp_1", model: "acme/talk", status: "failed", output: [], error },
      },
      "[DONE]",
    ]);
  });

  it.each([
    ["upstream_rejected", "invalid_prompt"],
    ["content_policy_violation", "invalid_prompt"],
    ["context_length_exceeded", "context_length_exceeded"],
    ["rate_limit_exceeded", "rate_limit_exceeded"],
    ["no_provider_available", "server_error"],
  ] as const)(
    "T16: %s has OpenAI's code %s in a failed response, so that Codex asks again only where that helps",
    (ours, code) => {
      const { tap } = tapped(direct, framesOf(sse(...begun)));
      const [failed] = dataOf(tap.fail(new GatewayError(ours, "maximum context length")));
      expect(failed).toMatchObject({ response: { error: { code } } });
    },
  );

  it("T45 T60: counts the usage of a failed response after an error event, and not its error text", () => {
    const error = {
      error: {
        message: "quota",
        code: "insufficient_quota",
        type: "insufficient_quota",
        param: null,
      },
    };
    const stream = sse(
      ...begun,
      ["error", error],
      ended("failed", { error: { code: "x", message: "quota" } }),
    );
    const { tap, passed } = tapped(direct, framesOf(stream));
    expect(passed).toHaveLength(begun.length);
    expect(tap.seen).toMatchObject({ text: "Grüß dich 👋", usage: { outputTokens: 87 } });
    expect(tap.seen.error).toMatchObject({ message: "quota", code: "insufficient_quota" });
    const [failed] = dataOf(tap.fail(new GatewayError("upstream_error", "ours")));
    expect(failed).toMatchObject({
      type: "response.failed",
      response: { error: { message: "quota" } },
    });
  });

  it.each(["<html>", '{"type":"response.output_text.delta","delta":"x"', '{"a":{"b":1}'])(
    "T16: reports the frame %s as an error",
    (data) => {
      const { tap, passed } = tapped(direct, [...framesOf(sse(...begun)), { data }]);
      expect(passed).toHaveLength(begun.length);
      expect(tap.seen.error?.message).toMatch(/not a JSON object/);
    },
  );

  it("collects text, reasoning and arguments; without pieces, the terminal event's output", () => {
    const pieces: [string, JsonObject][] = [
      ["response.reasoning_summary_text.delta", { delta: "a" }],
      ["response.function_call_arguments.delta", { delta: "b" }],
      ["response.audio.delta", { delta: "AAAA" }],
    ];
    expect(tapped(direct, framesOf(sse(...pieces))).tap.seen.text).toBe("ab");
    const output = [{ ...item, content: [{ type: "output_text", text: "late" }] }];
    expect(tapped(direct, framesOf(sse(ended("completed", { output })))).tap.seen.text).toBe(
      "late",
    );
  });
});

it("T10: an item that began and never ended is ended before the answer: Codex takes items from their ends alone", () => {
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}" };
  const added = { output_index: 1, item: { ...call, arguments: "" } };
  const said = { ...item, status: "completed", content: [] };
  const told = (...events: [string, JsonObject][]): JsonObject[] => {
    const { tap, passed } = tapped(direct, framesOf(sse(...begun, ...events)));
    return dataOf([...passed, ...tap.release()]).slice(5, -1) as JsonObject[];
  };
  const done = (index: number, whole: JsonObject): [string, JsonObject] => [
    "response.output_item.done",
    { output_index: index, item: whole },
  ];
  const begins: [string, JsonObject] = ["response.output_item.added", added];
  const whole = ended("completed", { output: [said, call] });
  expect(told(begins, whole)).toMatchObject([
    { sequence_number: 5 },
    { type: "response.output_item.done", sequence_number: 6, output_index: 0, item: said },
    { type: "response.output_item.done", sequence_number: 7, output_index: 1, item: call },
    { type: "response.completed", sequence_number: 8 },
  ]);
  expect(told(begins, done(0, said), done(1, call), whole)).toHaveLength(4);
  // Nothing tells what these were to be.
  expect(told(begins, ended("completed"))).toHaveLength(2);
  const failed = ended("failed", { output: [said, call] });
  const { tap } = tapped(direct, framesOf(sse(...begun, begins, failed)));
  const types = tap.fail(new GatewayError("upstream_error", "x")).map(({ event }) => event);
  expect(types).toEqual(["response.failed", undefined]);
});

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import type { SseEvent } from "../../../src/base/sse.ts";
import { noUsage } from "../../../src/base/usage.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";
import { framesOf, recordingsOf, tapAll } from "../canonical/support.ts";
import * as transcripts from "./transcripts.ts";

const tap = () =>
  messagesCodec.direct.tap({
    model: "acme/talk",
    request: {},
    inputEstimate: 77,
    id: "1",
    createdAt: 5,
  });
const names = (frames: readonly SseEvent[]) => frames.map((frame) => frame.event);
const dataOf = (frame: SseEvent | undefined) => JSON.parse(frame!.data);

describe("the tap of a messages stream", () => {
  it("TXT-11 T37: passes frames unchanged, except for the model's name in the first", () => {
    const frames = framesOf(transcripts.toolUse);
    const { passed, released } = tapAll(tap(), frames);
    expect([...passed, ...released].slice(1)).toEqual(frames.slice(1));
    const start = dataOf(frames[0]);
    start.message.model = "acme/talk";
    expect(dataOf(passed[0])).toEqual(start);
  });

  it("T11: ends calls with the reason for calls, which servers such as vLLM do not say of a forced one", () => {
    const frames = framesOf(transcripts.toolUse);
    const ended = frames.map(({ event, data }) => ({
      event,
      data: data.replace('"stop_reason":"tool_use"', '"stop_reason":"end_turn"'),
    }));
    expect(ended).not.toEqual(frames);
    const { passed, released } = tapAll(tap(), ended);
    expect([...passed, ...released].slice(1)).toEqual(frames.slice(1));
  });

  it("holds back the end of the stream until its release, and returns it once", () => {
    const watching = tap();
    const { passed, released } = tapAll(watching, framesOf(transcripts.toolUse));
    expect(names(passed)).not.toContain("message_delta");
    expect(names(released)).toEqual(["message_delta", "message_stop"]);
    expect(watching.seen.ended).toBe(true);
    expect(watching.release()).toEqual([]);
  });

  it("T49 T54: adds up usage from start and end; the last value of each field wins", () => {
    const watching = tap();
    tapAll(watching, framesOf(transcripts.toolUse));
    expect(watching.seen.usage).toEqual({
      inputTokens: 104,
      cacheReadTokens: 90,
      cacheWriteTokens: 4,
      cacheWrite1hTokens: 3,
      outputTokens: 42,
      reasoningTokens: 0,
    });
  });

  it("STREAM-04: adds an end with the stop reason of an answer that was complete in its start", () => {
    const ended = {
      stop_reason: "refusal",
      stop_sequence: "STOP",
      stop_details: { type: "refusal", category: "cyber", explanation: "No." },
    };
    const usage = { input_tokens: 3, output_tokens: 2 };
    const message = { content: [{ type: "text", text: "N" }], usage, ...ended };
    const start = { data: JSON.stringify({ type: "message_start", message }) };
    const watching = tap();
    watching.push(start);
    // Only the close tells that nothing follows.
    expect(watching.seen.ended).toBe(false);
    watching.end?.();
    expect(watching.seen.ended).toBe(true);
    const released = watching.release();
    expect(names(released)).toEqual(["message_delta", "message_stop"]);
    expect(dataOf(released[0]).delta).toEqual(ended);
  });

  it("T16: does not take a stop reason as the end while a call is open, unless the upstream closes", () => {
    const frame = (data: { type: string } & Record<string, unknown>) => ({
      event: data.type,
      data: JSON.stringify(data),
    });
    const index = 0;
    const call = { type: "tool_use", id: "t", name: "look", input: {} };
    const begun = [
      frame({ type: "message_start", message: { id: "m", content: [] } }),
      frame({ type: "content_block_start", index, content_block: call }),
      frame({
        type: "content_block_delta",
        index,
        delta: { type: "input_json_delta", partial_json: '{"a":' },
      }),
      frame({ type: "message_delta", delta: { stop_reason: "tool_use" } }),
    ];
    const [cut, stopped, closed] = [tap(), tap(), tap()];
    for (const one of [cut, stopped, closed]) for (const next of begun) one.push(next);
    expect(cut.seen.ended).toBe(false);
    stopped.push(frame({ type: "content_block_stop", index }));
    expect(stopped.seen.ended).toBe(true);
    closed.end?.();
    expect(closed.seen.ended).toBe(true);
    expect(names(closed.release())).toEqual([
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it("T44: puts the estimate into a start without input, and bills the true number from the end", () => {
    const watching = tap();
    const [start, ...rest] = framesOf(transcripts.zeroStart);
    const [sent] = watching.push(start!);
    expect(dataOf(sent).message.usage.input_tokens).toBe(77);
    expect(watching.seen.usage).toBeUndefined();
    for (const frame of rest) watching.push(frame);
    expect(watching.seen.usage).toMatchObject({ inputTokens: 30, cacheReadTokens: 5 });
    expect(dataOf(watching.release()[0]).usage.input_tokens).toBe(25);
  });

  it("T44: keeps real input in a start", () => {
    const [sent] = tap().push(framesOf(transcripts.toolUse)[0]!);
    expect(dataOf(sent).message.usage.input_tokens).toBe(10);
  });

  it("T44 T49: does not take zeros as input, neither at the start nor after a real one", () => {
    const frame = (data: { type: string } & Record<string, unknown>) => ({
      event: data.type,
      data: JSON.stringify(data),
    });
    const start = (usage: object) =>
      frame({ type: "message_start", message: { id: "msg_1", content: [], usage } });
    const end = (usage: object) =>
      frame({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
    const usageOf = (...frames: SseEvent[]) => {
      const watching = tap();
      tapAll(watching, frames);
      return watching.seen.usage;
    };
    const zeros = { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
    const real = { input_tokens: 20, cache_read_input_tokens: 5, output_tokens: 1 };
    const counts = { inputTokens: 25, cacheReadTokens: 5, outputTokens: 7 };
    expect(usageOf(start(zeros), end({ output_tokens: 7 }))).toBeUndefined();
    expect(usageOf(start(real), end({ ...zeros, output_tokens: 7 }))).toMatchObject(counts);
    expect(usageOf(start(real), start(zeros), end({ output_tokens: 7 }))).toMatchObject(counts);
    // T54: nor do zeros replace the writes that are kept for an hour.
    const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 4 };
    const written = { ...real, cache_creation_input_tokens: 4, cache_creation };
    const nothing = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 };
    const late = { ...zeros, cache_creation_input_tokens: 0, cache_creation: nothing };
    expect(usageOf(start(written), end({ ...late, output_tokens: 7 }))).toMatchObject({
      cacheWriteTokens: 4,
      cacheWrite1hTokens: 4,
    });
    // Nor do later writes of the vendor's own tools, which the end adds to the sum alone, become those of five minutes.
    const sum = { ...real, cache_creation_input_tokens: 9, output_tokens: 7 };
    expect(usageOf(start(written), end(sum))).toMatchObject({
      cacheWriteTokens: 9,
      cacheWrite1hTokens: 9,
    });
    // T61: an explicit 0 at the end counts.
    expect(usageOf(start(zeros), end(zeros))).toMatchObject({ inputTokens: 0, outputTokens: 0 });
  });

  it.each([{}, { input_tokens: 10 }, { input_tokens: 10, output_tokens: null }])(
    "T44 T48: tells the billed output if the end reports only %j",
    (usage) => {
      const frames = framesOf(transcripts.toolUse).slice(0, -2);
      const end = { type: "message_delta", delta: { stop_reason: "tool_use" }, usage };
      const watching = tap();
      for (const frame of [...frames, { data: JSON.stringify(end) }]) watching.push(frame);
      expect(watching.seen.usage).toBeUndefined();
      const told = dataOf(watching.release({ ...noUsage, outputTokens: 9 })[0]);
      expect(told.usage).toEqual({ ...usage, output_tokens: 9 });
    },
  );

  it("T49: passes usage after the stop reason in that order", () => {
    const late = {
      event: "message_delta",
      data: '{"type":"message_delta","delta":{},"usage":{"output_tokens":9}}',
    };
    const frames = framesOf(transcripts.toolUse);
    const { passed, released } = tapAll(tap(), [...frames.slice(0, -1), late, frames.at(-1)!]);
    expect(names(passed)).not.toContain("message_delta");
    expect(names(released)).toEqual(["message_delta", "message_delta", "message_stop"]);
    // Anthropic's SDKs would take the stop reason back if it were missing here.
    expect(dataOf(released[1])).toEqual({
      ...dataOf(late),
      delta: { stop_reason: "tool_use", stop_sequence: null },
    });
    expect(released[2]).toEqual(frames.at(-1));
  });

  it("T60: collects the output's text, and no error text", () => {
    const whole = tap();
    tapAll(whole, framesOf(transcripts.toolUse));
    expect(whole.seen.text).toBe('Let me see.Größe: 三 🙂\n{"where": "the shelf"}');
    const failed = tap();
    tapAll(failed, framesOf(transcripts.failing));
    expect(failed.seen.text).toBe("Hi");
  });

  it("keeps as much of a long stream's text as fits, and counts its characters up to a limit", () => {
    const watching = tap();
    const estimated = tap();
    let taken = 0;
    watching.keepText({
      charactersMax: 100_000,
      take: (bytes) => {
        taken += bytes;
        return taken <= 150_000;
      },
    });
    const delta = (text: string): SseEvent => ({
      event: "content_block_delta",
      data: JSON.stringify({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text },
      }),
    });
    for (let number = 0; number < 5000; number += 1)
      for (const one of [watching, estimated]) one.push(delta(`${number} `));
    expect(watching.seen.text.split(" ")).toHaveLength(5001);
    expect(estimated.seen.text).toBe(watching.seen.text.slice(0, 20_000));
    expect([watching.seen.isTextCut, estimated.seen.isTextCut]).toEqual([false, true]);
    for (let count = 0; count < 6; count += 1) watching.push(delta("x".repeat(1024 * 1024)));
    // A step of 16,384 characters fitted, and the next one did not.
    expect(watching.seen.text).toHaveLength(20_000 + 16_384);
    expect(watching.seen.characters).toBe(4 * 1024 * 1024);
    expect(watching.seen.isTextCut).toBe(true);
  });

  it("STREAM-04 STREAM-05: adds a missing end, and closes open blocks before it", () => {
    const { passed, released } = tapAll(tap(), framesOf(transcripts.withoutMarker));
    expect(names(passed)).toEqual(["message_start", "content_block_start", "content_block_delta"]);
    expect(names(released)).toEqual(["content_block_stop", "message_delta", "message_stop"]);
    expect(dataOf(released[0]).index).toBe(0);
  });

  it("T16: does not take a cut stream as ended, and reports its failure in the protocol's format", () => {
    const watching = tap();
    for (const frame of framesOf(transcripts.cut)) watching.push(frame);
    expect(watching.seen.ended).toBe(false);
    const [frame, ...others] = watching.fail(new GatewayError("upstream_error", "Cut."));
    expect(others).toEqual([]);
    expect(frame!.event).toBe("error");
    expect(dataOf(frame)).toMatchObject({
      type: "error",
      error: { type: "api_error", message: "Cut." },
    });
    expect(watching.seen.ended).toBe(false);
    expect(watching.release()).toEqual([]);
  });

  it("T16: records the upstream's error event, and passes nothing after it", () => {
    const watching = tap();
    const { passed, released } = tapAll(watching, framesOf(transcripts.failing));
    expect(names(passed)).not.toContain("error");
    expect(released).toEqual([]);
    expect(watching.seen.error).toMatchObject({ type: "overloaded_error" });
    expect(watching.seen.ended).toBe(false);
  });

  it.each([
    ["that is not JSON", { event: "content_block_delta", data: '{"type":"content_block_del' }],
    ["of HTML", { data: "<html>Bad gateway</html>" }],
  ])("T16: reports a frame %s as an error", (_, frame) => {
    const watching = tap();
    watching.push(framesOf(transcripts.cut)[0]!);
    expect(watching.push(frame)).toEqual([]);
    expect(watching.seen.error).toBeDefined();
  });

  it("writes an event line in each frame, even if the upstream omitted it", () => {
    const { passed, released } = tapAll(tap(), framesOf(transcripts.withoutEventLines));
    const complete = tapAll(tap(), framesOf(transcripts.toolUse));
    expect(passed).toEqual(complete.passed);
    expect(released).toEqual(complete.released);
  });

  it("passes a repeated start once", () => {
    const { passed } = tapAll(tap(), framesOf(transcripts.duplicateStart));
    expect(names(passed)).toEqual(["message_start", "content_block_start", "content_block_stop"]);
  });

  it("T44 T61: bills the input that only a second start reports, and no estimate", () => {
    const watching = tap();
    const start = (id: string, input_tokens: number) => ({
      type: "message_start",
      message: { id, content: [], usage: { input_tokens, output_tokens: 0 } },
    });
    const frames = [
      start("a", 0),
      start("b", 120),
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { output_tokens: 5 },
      },
      { type: "message_stop" },
    ];
    tapAll(
      watching,
      frames.map((frame) => ({ event: frame.type, data: JSON.stringify(frame) })),
    );
    expect(watching.seen.usage).toMatchObject({ inputTokens: 120, outputTokens: 5 });
  });

  it("reports an answer that starts again in the middle of a call as an error", () => {
    const watching = tap();
    const { passed } = tapAll(watching, framesOf(transcripts.splicedStart));
    expect(passed).toHaveLength(3);
    expect(watching.seen.error?.message).toContain("anew");
    expect(watching.seen.ended).toBe(false);
  });

  it("T17: passes the same frames at any cut", () => {
    const expected = tapAll(tap(), framesOf(transcripts.toolUse));
    for (let at = 0; at <= transcripts.toolUse.length; at += 1) {
      expect(tapAll(tap(), framesOf(transcripts.toolUse, at))).toEqual(expected);
    }
  });

  const recorded = recordingsOf("anthropic", ".chunks.txt");
  describe.skipIf(recorded.length === 0)(
    "for recorded streams (beside the repository only)",
    () => {
      it.each(recorded)("T48: finds usage and end of %s", (name, text) => {
        const watching = tap();
        for (const data of text.split("\n").filter(Boolean)) {
          watching.push({ event: JSON.parse(data).type, data });
        }
        expect(watching.seen.usage?.inputTokens).toBeGreaterThan(0);
        expect(watching.seen.ended).toBe(!name.startsWith("spliced"));
      });
    },
  );
});

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import type { SseEvent } from "../../../src/base/sse.ts";
import { generateContentCodec } from "../../../src/protocols/generate-content/index.ts";
import { framesOf, recordingsOf, tapAll } from "../canonical/support.ts";
import * as transcripts from "./transcripts.ts";

const tap = () =>
  generateContentCodec.direct.tap({
    model: "acme/talk",
    request: {},
    inputEstimate: 77,
    id: "1",
    createdAt: 5,
  });
const dataOf = (frame: SseEvent) => JSON.parse(frame.data);
const renamed = (frames: readonly SseEvent[]) =>
  frames.map((frame) => ({ ...dataOf(frame), modelVersion: "acme/talk" }));

describe("the tap of a generateContent stream", () => {
  it.each([
    ["calls", transcripts.toolUse],
    ["text and arguments that look like the model's name", transcripts.lookalike],
    ["a blocked prompt", transcripts.blockedPrompt],
  ])("TXT-11 T37: passes frames with %s unchanged, except for the model's name", (_, bytes) => {
    const frames = framesOf(bytes);
    const { passed, released } = tapAll(tap(), frames);
    expect([...passed, ...released].map(dataOf)).toEqual(renamed(frames));
  });

  it("replaces the name in the frame's text, and keeps its other bytes", () => {
    const [frame] = framesOf(transcripts.toolUse);
    const [sent] = tap().push(frame!);
    expect(sent!.data).toBe(frame!.data.replace("vendor-model-2026", "acme/talk"));
  });

  it("writes no event lines, because the vendor's SDK skips such frames", () => {
    const [frame] = framesOf(transcripts.toolUse);
    expect(tap().push({ ...frame!, event: "message" })[0]).not.toHaveProperty("event");
  });

  it.each([
    ["a reason", transcripts.toolUse, 1],
    ["a reason and then usage alone", transcripts.usageLast, 2],
    ["a blocked prompt", transcripts.blockedPrompt, 1],
    ["a reason with every frame", transcripts.reasonEachTime, 1],
    ["the last of two candidates", transcripts.twoCandidates, 1],
  ])(
    "holds back the end of a stream with %s until its release, and returns it once",
    (_, bytes, kept) => {
      const watching = tap();
      const frames = framesOf(bytes);
      const { passed, released } = tapAll(watching, frames);
      expect(released).toHaveLength(kept);
      expect([...passed, ...released].map(dataOf)).toEqual(renamed(frames));
      expect(watching.seen.ended).toBe(true);
      expect(watching.release()).toEqual([]);
    },
  );

  it("T46 T49: takes the last reported value of each cumulative count", () => {
    const watching = tap();
    tapAll(watching, framesOf(transcripts.toolUse));
    expect(watching.seen.usage).toEqual({
      inputTokens: 100,
      cacheReadTokens: 90,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 70,
      reasoningTokens: 20,
    });
  });

  it("T48: reports no usage, not zero, for a stream without usage", () => {
    const watching = tap();
    tapAll(watching, framesOf(transcripts.loneSignature));
    expect(watching.seen.usage).toBeUndefined();
  });

  it("T60: collects the output's text, and no error text", () => {
    const whole = tap();
    tapAll(whole, framesOf(transcripts.toolUse));
    expect(whole.seen.text).toBe('Let me see.Größe: 三 🙂\nlook{"where":"shelf"}look{}');
    const failed = tap();
    tapAll(failed, framesOf(transcripts.failing));
    expect(failed.seen.text).toBe("Hi");
  });

  it("T16: does not take a cut stream as ended, and reports its failure in the protocol's format", () => {
    const watching = tap();
    for (const frame of framesOf(transcripts.cut)) watching.push(frame);
    expect(watching.seen.ended).toBe(false);
    const frames = watching.fail(new GatewayError("upstream_error", "Cut."));
    expect(frames.map(dataOf)).toMatchObject([
      { error: { code: 502, status: "UNAVAILABLE", message: "Cut." } },
    ]);
    expect(watching.release()).toEqual([]);
  });

  it("T16: records the upstream's error chunk, and passes nothing after it", () => {
    const watching = tap();
    const { passed, released } = tapAll(watching, framesOf(transcripts.failing));
    expect(passed).toHaveLength(1);
    expect(released).toEqual([]);
    expect(watching.seen).toMatchObject({
      ended: false,
      error: { type: "UNAVAILABLE", message: "The model is overloaded." },
    });
  });

  it("T16: reports a frame that is not JSON as an error", () => {
    const watching = tap();
    expect(watching.push({ data: '{"candidates":[{"conte' })).toEqual([]);
    expect(watching.seen.error).toBeDefined();
  });

  it("T17: passes the same frames at any cut", () => {
    const expected = tapAll(tap(), framesOf(transcripts.toolUse));
    for (let at = 0; at <= transcripts.toolUse.length; at += 1) {
      expect(tapAll(tap(), framesOf(transcripts.toolUse, at))).toEqual(expected);
    }
  });

  const recorded = recordingsOf("google", ".chunks.txt");
  describe.skipIf(recorded.length === 0)("on recordings (beside the repository only)", () => {
    it.each(recorded)("T48: finds usage and end of %s", (_, text) => {
      const watching = tap();
      const frames = text
        .split("\n")
        .filter(Boolean)
        .map((data) => ({ data }));
      const { passed, released } = tapAll(watching, frames);
      expect([...passed, ...released].map(dataOf)).toEqual(renamed(frames));
      expect(watching.seen.usage?.inputTokens).toBeGreaterThan(0);
      expect(watching.seen.ended).toBe(true);
    });
  });
});

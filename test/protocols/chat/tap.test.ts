import * as fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import type { SseEvent } from "../../../src/base/sse.ts";
import { withDropped } from "../../../src/protocols/dropped-params.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { dataOf, everyCut, framesOf, sse, tapped } from "./support.ts";

const { direct } = chatCodec;

const base = {
  id: "chatcmpl-up1",
  object: "chat.completion.chunk",
  created: 1_741_569_952,
  model: "up-large-2026",
};
const chunk = (
  delta: JsonObject,
  finish: string | null = null,
  extra: JsonObject = {},
): JsonObject => ({
  ...base,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  ...extra,
});
const usage = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 4 },
};

/** A stream of OpenAI's with usage. */
const transcript = sse(
  chunk({ role: "assistant", content: "", refusal: null }, null, { usage: null }),
  chunk({ content: "Grüß " }, null, { usage: null }),
  chunk({ content: "dich 👋" }, null, { usage: null }),
  chunk({}, "stop", { usage: null }),
  { ...base, choices: [], usage },
  "[DONE]",
);

describe("the tap of a chat stream", () => {
  it("TXT-10 TXT-11 T37: puts the canonical model into every frame", () => {
    const { tap, passed } = tapped(direct, framesOf(transcript), {
      stream_options: { include_usage: true },
    });
    const frames = dataOf([...passed, ...tap.release()]);
    expect(frames.pop()).toBe("[DONE]");
    expect(frames.map((frame) => (frame as JsonObject)["model"])).toEqual(
      Array(5).fill("acme/talk"),
    );
    expect(JSON.stringify(frames)).not.toContain("up-large");
  });

  it("holds back the end of the stream until it is released", () => {
    const { tap, passed } = tapped(direct, framesOf(transcript), {
      stream_options: { include_usage: true },
    });
    expect(passed).toHaveLength(3);
    expect(tap.seen.ended).toBe(true);
    const [finish, totals, marker] = dataOf(tap.release());
    expect(finish).toMatchObject({ choices: [{ finish_reason: "stop" }], usage: null });
    expect(totals).toEqual({ ...base, model: "acme/talk", choices: [], usage });
    expect(marker).toBe("[DONE]");
    expect(tap.release()).toEqual([]);
  });

  it("shows no usage to a caller that did not ask for it", () => {
    const { tap, passed } = tapped(direct, framesOf(transcript));
    const frames = [...passed, ...tap.release()];
    expect(frames).toHaveLength(5);
    expect(frames.some(({ data }) => data.includes("usage"))).toBe(false);
    expect(tap.seen.usage).toMatchObject({ inputTokens: 19, outputTokens: 10, cacheReadTokens: 4 });
  });

  it("T17: passes the same frames at any cut", () => {
    const whole = tapped(direct, framesOf(transcript));
    for (const pieces of everyCut(transcript)) {
      const { passed } = tapped(direct, framesOf(...pieces));
      expect(passed).toEqual(whole.passed);
    }
  });

  it("STREAM-04: adds an end marker that the upstream omitted", () => {
    const { tap } = tapped(direct, framesOf(transcript.replace("data: [DONE]\n\n", "")));
    expect(tap.seen.ended).toBe(true);
    expect(dataOf(tap.release()).at(-1)).toBe("[DONE]");
  });

  it("STREAM-04: adds a finish reason that the upstream omitted", () => {
    const { tap } = tapped(direct, framesOf(sse(chunk({ content: "hi" }), "[DONE]")));
    expect(tap.seen.ended).toBe(true);
    expect(dataOf(tap.release())).toMatchObject([
      { choices: [{ finish_reason: "stop" }] },
      "[DONE]",
    ]);
  });

  it("STREAM-04: adds the finish reason of each choice that the upstream omitted, as in a collected answer", () => {
    const of = (index: number, rest: JsonObject) => ({ ...base, choices: [{ index, ...rest }] });
    const called = { tool_calls: [{ index: 0, id: "c", function: { name: "f" } }] };
    const said = [of(0, { delta: { content: "a" } }), of(1, { delta: called })];
    const one = of(0, { delta: {}, finish_reason: "length" });
    for (const [chunks, reason] of [
      [[...said, "[DONE]"], "stop"],
      [[...said, one, "[DONE]"], "length"],
    ] as const) {
      const frames = framesOf(sse(...chunks));
      const { tap } = tapped(direct, frames, { n: 2 });
      const ends = [
        { index: 0, finish_reason: reason },
        { index: 1, finish_reason: "tool_calls" },
      ];
      expect(tap.seen.ended).toBe(true);
      const told = [...(reason === "length" ? [one] : []), ...dataOf(tap.release())];
      expect(told).toMatchObject([...ends.map((choice) => ({ choices: [choice] })), "[DONE]"]);
      expect(direct.answerFromFrames(frames)).toMatchObject({ choices: ends });
    }
  });

  it("T16: does not take an end marker without a choice for the end of an answer", () => {
    const counts = { ...base, choices: [], usage };
    for (const stream of [sse("[DONE]"), sse(counts, "[DONE]")]) {
      const { tap } = tapped(direct, framesOf(stream));
      expect(tap.seen.ended).toBe(false);
      expect(tap.seen.error).toEqual({ message: "The upstream's stream ended without an answer." });
    }
  });

  it("does not take a stream without finish reason and end marker as ended", () => {
    expect(tapped(direct, framesOf(sse(chunk({ content: "hi" })))).tap.seen.ended).toBe(false);
  });

  it("T48 T49: reads usage in content chunks, the finish chunk, the choice and x_groq, and takes the last one", () => {
    const early = { ...usage, completion_tokens: 1, total_tokens: 20 };
    const streams = [
      sse(chunk({ content: "a" }, null, { usage: early }), chunk({}, "stop", { usage })),
      sse(chunk({ content: "a" }), chunk({}, "stop", { x_groq: { usage } })),
      sse({ ...base, choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] }),
    ];
    for (const stream of streams) {
      const { tap } = tapped(direct, framesOf(stream), { stream_options: { include_usage: true } });
      expect(tap.seen.usage).toMatchObject({ inputTokens: 19, outputTokens: 10 });
      // The caller gets the usage where OpenAI puts it: in a frame of its own.
      const usageFrames = dataOf(tap.release()).filter((frame) => (frame as JsonObject)["usage"]);
      expect(usageFrames).toMatchObject([{ choices: [], usage: { completion_tokens: 10 } }]);
    }
  });

  it("T48: usage without output in a frame of its own is no count of the output after it", () => {
    const prompt = { prompt_tokens: 19, completion_tokens: 0, total_tokens: 19 };
    const told = { ...base, choices: [], usage: prompt };
    const hi = chunk({ content: "hi" });
    const start = chunk({ role: "assistant", content: "" });
    for (const before of [[told], [start, told]]) {
      const frames = framesOf(sse(...before, hi, chunk({}, "stop"), "[DONE]"));
      expect(tapped(direct, frames).tap.seen.usage).toBeUndefined();
    }
    // T61: after the output it is.
    for (const after of [
      [hi, told, chunk({}, "stop")],
      [chunk({}, "stop"), told],
    ]) {
      const { tap } = tapped(direct, framesOf(sse(start, ...after, "[DONE]")));
      expect(tap.seen.usage).toMatchObject({ inputTokens: 19, outputTokens: 0 });
    }
  });

  it("collects text, reasoning and tool arguments for an estimate, and T60: no error text", () => {
    const frames = framesOf(
      sse(
        chunk({ reasoning_content: "hm, " }),
        chunk({ content: "well " }),
        chunk({
          tool_calls: [
            { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } },
          ],
        }),
        { error: { message: "the upstream fell over", code: 500 } },
      ),
    );
    const { tap, passed } = tapped(direct, frames);
    expect(tap.seen.text).toBe("hm, well f{}");
    expect(tap.seen.error).toMatchObject({ message: "the upstream fell over", code: "500" });
    expect(passed).toHaveLength(3);
  });

  it("T16: ends a broken stream with an error chunk, not as if complete", () => {
    const { tap } = tapped(direct, framesOf(sse(chunk({ content: "half" }), chunk({}, "stop"))));
    const frames = dataOf(tap.fail(new GatewayError("upstream_error", "gone")));
    const { created: _none, ...fields } = base;
    expect(frames).toEqual([
      {
        ...fields,
        object: "error",
        model: "acme/talk",
        choices: [{ delta: {}, finish_reason: "error" }],
        error: { message: "gone", type: "upstream_error", param: null, code: "upstream_error" },
      },
    ]);
    expect(tap.release()).toEqual([]);
    expect(tap.push({ data: JSON.stringify(chunk({ content: "late" })) })).toEqual([]);
  });

  it("STREAM-04: sends what came before more output, if a vendor finishes with every frame", () => {
    const words = ["one ", "two ", "three"];
    const { tap, passed } = tapped(
      direct,
      framesOf(sse(...words.map((content) => chunk({ content }, "stop")))),
    );
    const contentOf = (frames: readonly SseEvent[]) =>
      dataOf(frames).map((one) => (one as { choices: unknown }).choices);
    const choice = (content: string) => [{ index: 0, delta: { content }, finish_reason: "stop" }];
    expect(contentOf(passed)).toMatchObject([choice("one "), choice("two ")]);
    expect(dataOf(tap.release())).toMatchObject([{ choices: choice("three") }, "[DONE]"]);
  });

  it("STREAM-04: keeps a bounded number of frames without output after the finish reason", () => {
    const nothing = Array.from({ length: 1_000 }, () => chunk({}));
    const { tap } = tapped(
      direct,
      framesOf(sse(chunk({ content: "Hi" }), chunk({}, "stop"), ...nothing)),
    );
    const frames = dataOf(tap.release());
    expect(frames.length).toBeLessThan(100);
    expect(frames[0]).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    expect(frames.at(-1)).toBe("[DONE]");
  });

  it.each(["<html>bad gateway</html>", '{"id":"x","choices":[{"delta":{"content":"x"}', "[1]"])(
    "T16: reports the frame %s as an error",
    (data) => {
      const { tap, passed } = tapped(direct, [{ data }]);
      expect(passed).toEqual([]);
      expect(tap.seen.error?.message).toMatch(/not a JSON object/);
    },
  );

  it("does not hold back other choices after the first one finishes", () => {
    const choice = (index: number, delta: JsonObject, finish: string | null): JsonObject => ({
      ...base,
      choices: [{ index, delta, finish_reason: finish }],
    });
    const frames = framesOf(
      sse(
        choice(0, { content: "a" }, null),
        choice(0, {}, "stop"),
        choice(1, { content: "b" }, null),
        choice(1, {}, "stop"),
      ),
    );
    const { tap, passed } = tapped(direct, frames, { n: 2 });
    expect(passed).toHaveLength(3);
    expect(tap.seen.ended).toBe(true);
  });

  it("sets the model wherever a vendor writes it: after the choices, not at all, or next to a nested member of that name", () => {
    const { model, ...nameless } = base;
    const choices: JsonObject[] = [
      {
        index: 0,
        delta: { role: "assistant", content: '"model":"up-large-2026",{' },
        finish_reason: null,
      },
    ];
    const frames: JsonObject[] = [
      { choices, ...nameless, model },
      { ...nameless, choices },
      { ...nameless, provider: { model: "inner" }, model, choices, usage: null },
      { ...base, choices, usage: null },
      { ...base, choices, usage: null },
    ];
    const { passed } = tapped(direct, framesOf(sse(...frames)));
    expect(dataOf(passed)).toEqual(
      frames.map(({ usage: _stripped, ...frame }) => ({ ...frame, model: "acme/talk" })),
    );
  });

  it("rewrites any chunk as if it were parsed, changed and written", () => {
    const value = fastCheck.jsonValue({ maxDepth: 3 });
    const delta = fastCheck.record({
      content: fastCheck.oneof(
        fastCheck.string(),
        fastCheck.constant('","usage":null,"model":"up"'),
      ),
    });
    fastCheck.assert(
      fastCheck.property(value, delta, fastCheck.boolean(), (extra, content, spaced) => {
        const frame = {
          id: "i",
          object: "chat.completion.chunk",
          created: 1,
          extra,
          model: "up",
          choices: [{ index: 0, delta: { role: "assistant", ...content }, usage: null }],
          usage: null,
        };
        const data = JSON.stringify(frame, null, spaced ? 1 : 0).replaceAll("\n", " ");
        const { passed } = tapped(direct, [{ data }, { data }]);
        const { usage: _stripped, ...kept } = JSON.parse(data) as JsonObject;
        expect(dataOf(passed)).toEqual([
          { ...kept, model: "acme/talk" },
          { ...kept, model: "acme/talk" },
        ]);
      }),
    );
  });
});

describe("a whole chat answer on a direct route", () => {
  const answer = (): JsonObject => ({
    ...base,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "Hi", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage,
    system_fingerprint: "fp_1",
  });

  it("TXT-11 TXT-14 TXT-21: has the canonical model, and gw.droppedParams if something was dropped", () => {
    const { model: _model, ...kept } = answer();
    expect(direct.answer(answer(), "acme/talk")).toEqual({ ...kept, model: "acme/talk" });
    expect(withDropped(direct.answer(answer(), "acme/talk"), ["service_tier"])).toEqual({
      ...kept,
      model: "acme/talk",
      gw: { droppedParams: ["service_tier"] },
    });
  });

  it("has the text of all choices", () => {
    const choices: JsonObject[] = [
      { message: { content: "a", reasoning_content: "r" } },
      { message: { tool_calls: [{ function: { name: "f", arguments: "{}" } }] } },
    ];
    expect(direct.text({ choices })).toBe("arf{}");
    expect(direct.text({})).toBe("");
  });
});

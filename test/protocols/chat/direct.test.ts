import * as fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import { noteParams } from "../../../src/base/notes.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { dataOf, everyCut, faultOf, framesOf, sse, tapped } from "./support.ts";

const { direct } = chatCodec;
const messages = [{ role: "user", content: "hi" }];
const minimal: JsonObject = { model: "acme/talk", messages };
const fault = (extra: JsonObject): string =>
  faultOf(() => direct.validate({ ...minimal, ...extra }));

describe("the check of a chat body", () => {
  it.each([
    ["nothing at all", {}, "missing_required_parameter model"],
    ["no messages", { model: "a" }, "missing_required_parameter messages"],
    ["an empty list of messages", { model: "a", messages: [] }, "invalid_value messages"],
    ["messages that are no list", { model: "a", messages: "hi" }, "invalid_type messages"],
    ["a message that is no object", { model: "a", messages: [7] }, "invalid_type messages[0]"],
  ])("%s", (_what, body, expected) => {
    expect(faultOf(() => direct.validate(body as JsonObject))).toBe(expected);
  });

  it.each<[JsonObject, string]>([
    [{ role: "user", content: 5 }, "invalid_type messages[3].content"],
    [{ role: "user", content: null }, "invalid_type messages[3].content"],
    [{ role: "user" }, "missing_required_parameter messages[3].content"],
    [{ role: "clown", content: "x" }, "invalid_value messages[3].role"],
    [{ content: "x" }, "missing_required_parameter messages[3].role"],
    [{ role: "tool", content: "x" }, "missing_required_parameter messages[3].tool_call_id"],
    [
      { role: "user", content: [{ type: "text" }] },
      "missing_required_parameter messages[3].content[0].text",
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: { url: 1 } }] },
      "invalid_type messages[3].content[0].image_url.url",
    ],
    [
      {
        role: "assistant",
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: {} } }],
      },
      "invalid_type messages[3].tool_calls[0].function.arguments",
    ],
    [{ role: "assistant", content: null }, "none"],
    [{ role: "user", content: [{ type: "hologram", beams: 4 }] }, "none"],
  ])("message %j: %s", (message, expected) => {
    expect(fault({ messages: [...messages, ...messages, ...messages, message] })).toBe(expected);
  });

  it.each<[JsonObject, string]>([
    [{ temperature: 0 }, "none"],
    [{ temperature: 2 }, "none"],
    [{ temperature: 2.1 }, "integer_above_max_value temperature"],
    [{ temperature: -0.1 }, "integer_below_min_value temperature"],
    [{ temperature: "warm" }, "invalid_type temperature"],
    [{ temperature: null }, "none"],
    [{ top_p: 1.1 }, "integer_above_max_value top_p"],
    [{ n: 0 }, "integer_below_min_value n"],
    [{ n: 1.5 }, "invalid_type n"],
    [{ max_tokens: 0 }, "integer_below_min_value max_tokens"],
    [{ max_completion_tokens: 1e300 }, "integer_above_max_value max_completion_tokens"],
    [{ frequency_penalty: 3 }, "integer_above_max_value frequency_penalty"],
    [{ presence_penalty: -3 }, "integer_below_min_value presence_penalty"],
    [{ stream: "yes" }, "invalid_type stream"],
    [{ stream_options: { include_usage: 1 } }, "invalid_type stream_options.include_usage"],
    [{ tool_choice: "any" }, "invalid_value tool_choice"],
    [{ tool_choice: { type: "function" } }, "missing_required_parameter tool_choice.function"],
    [{ tool_choice: { type: "custom", custom: { name: "x" } } }, "none"],
    [
      { tools: [{ type: "function", function: {} }] },
      "missing_required_parameter tools[0].function.name",
    ],
    [{ tools: [{ type: "web_thing" }] }, "none"],
    [
      { response_format: { type: "json_schema" } },
      "missing_required_parameter response_format.json_schema",
    ],
    [{ verbosity: "shouting" }, "invalid_value verbosity"],
    [{ moderation: "auto" }, "invalid_type moderation"],
    [{ service_tier: 7 }, "none"],
    [{ a_field_of_tomorrow: { x: 1 } }, "none"],
  ])("%j: %s", (extra, expected) => {
    expect(fault(extra)).toBe(expected);
  });

  it("LIM-12: up to four stop sequences", () => {
    expect(fault({ stop: ["a", "b", "c", "d"] })).toBe("none");
    expect(fault({ stop: ["a", "b", "c", "d", "e"] })).toBe("invalid_value stop");
  });

  it("LIM-13: top_logprobs from 0 to 20", () => {
    const faults = [-1, 0, 20, 21].map((count) => fault({ top_logprobs: count }));
    const [below, above] = [
      "integer_below_min_value top_logprobs",
      "integer_above_max_value top_logprobs",
    ];
    expect(faults).toEqual([below, "none", "none", above]);
  });

  it("LIM-16: a prompt cache lives 30 minutes and no other time", () => {
    expect(fault({ prompt_cache_options: { ttl: "30m" } })).toBe("none");
    expect(fault({ prompt_cache_options: { ttl: "1h" } })).toBe(
      "invalid_value prompt_cache_options.ttl",
    );
  });

  it("never throws anything but a GatewayError, whatever JSON comes", () => {
    fastCheck.assert(
      fastCheck.property(
        fastCheck.dictionary(
          fastCheck.constantFrom(...Object.keys(agentBody)),
          fastCheck.jsonValue(),
        ),
        (fields) => {
          const body = { ...agentBody, ...fields } as JsonObject;
          expect(faultOf(() => direct.validate(body))).not.toContain("null");
        },
      ),
    );
  });
});

const agentBody: JsonObject = {
  model: "acme/talk",
  stream: true,
  stream_options: { include_obfuscation: false },
  temperature: 1.7,
  messages: [
    { role: "developer", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Weather?" },
        { type: "image_url", image_url: { url: "https://x.test/a.png", detail: "low" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "Let me look.",
      tool_calls: [
        {
          id: "call_1",
          type: "function",
          function: { name: "weather", arguments: '{"city":"Oslo"}' },
        },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: "cold" },
  ],
  tools: [
    {
      type: "function",
      function: {
        name: "weather",
        parameters: { type: "object", properties: { city: { type: "string" } } },
      },
    },
  ],
  logit_bias: { "50256": -100 },
  seed: 7,
  user: "u1",
  a_field_of_tomorrow: [1, { x: null }],
};

describe("the request of a direct chat route", () => {
  it("TXT-07: the upstream gets the caller's body, apart from the model and what metering needs", () => {
    const before = structuredClone(agentBody);
    const { body, notes } = direct.request(agentBody, { model: "talk-large", stream: true });
    expect(body).toEqual({
      ...agentBody,
      model: "talk-large",
      stream_options: { include_obfuscation: false, include_usage: true },
    });
    expect(Object.keys(body)).toEqual(Object.keys(agentBody));
    expect(notes).toEqual([]);
    expect(agentBody).toEqual(before);
  });

  it("TXT-09 TXT-17: service_tier is taken out and reported", () => {
    const { body, notes } = direct.request(
      { ...minimal, service_tier: "flex" },
      { model: "m", stream: false },
    );
    expect(body).toEqual({ model: "m", messages });
    expect(notes).toEqual([{ param: "service_tier", kind: "dropped", detail: expect.any(String) }]);
  });

  it("TXT-18 TXT-19: the other vendors' spellings of tier and region are taken out too", () => {
    const sent = { ...minimal, serviceTier: "x", inference_geo: "eu" };
    const { body, notes } = direct.request(sent, { model: "m", stream: false });
    expect(body).toEqual({ model: "m", messages });
    expect(noteParams(notes)).toEqual(["serviceTier", "inference_geo"]);
  });

  it("T47: a stream is asked for its usage, also when the caller said no", () => {
    const sent = { ...minimal, stream: true, stream_options: { include_usage: false } };
    const { body } = direct.request(sent, { model: "m", stream: true });
    expect(body["stream_options"]).toEqual({ include_usage: true });
  });

  it("a whole answer is not asked for stream options", () => {
    expect(direct.request(minimal, { model: "m", stream: false }).body).not.toHaveProperty(
      "stream_options",
    );
  });

  it("TXT-07: any body of JSON goes on unchanged but for model, stream fields and filtered fields", () => {
    fastCheck.assert(
      fastCheck.property(
        fastCheck.dictionary(fastCheck.string(), fastCheck.jsonValue()),
        (extra) => {
          const sent = { ...minimal, ...extra, stream: false, service_tier: "auto" } as JsonObject;
          const { body } = direct.request(sent, { model: "m", stream: false });
          const { service_tier: _filtered, ...kept } = sent;
          expect(body).toEqual({ ...kept, model: "m" });
        },
      ),
    );
  });
});

describe("facts of a chat request", () => {
  it("counts text, media and choices, and knows the maximum", () => {
    const facts = direct.facts({ ...agentBody, n: 3, max_tokens: 10, max_completion_tokens: 20 });
    expect(facts).toMatchObject({ maxOutputTokens: 20, answers: 3, inputMedia: 1 });
    expect(facts.inputCharacters).toBeGreaterThan("Be brief.Weather?Let me look.cold".length);
    expect(facts.inputCharacters).toBeLessThan(400);
  });

  it("the prompt cache key goes before the user, and safety_identifier plays no part", () => {
    const affinity = (extra: JsonObject) => direct.facts({ ...minimal, ...extra }).affinity;
    expect(affinity({ user: "u", prompt_cache_key: "k" })).toBe("k");
    expect(affinity({ user: "u" })).toBe("u");
    expect(affinity({ safety_identifier: "s" })).toBeUndefined();
  });
});

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

/** As OpenAI streams with usage asked for. */
const transcript = sse(
  chunk({ role: "assistant", content: "", refusal: null }, null, { usage: null }),
  chunk({ content: "Grüß " }, null, { usage: null }),
  chunk({ content: "dich 👋" }, null, { usage: null }),
  chunk({}, "stop", { usage: null }),
  { ...base, choices: [], usage },
  "[DONE]",
);

describe("a chat stream in passing", () => {
  it("TXT-10 TXT-11 T37: every frame carries the canonical model", () => {
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

  it("keeps back what ends the stream until it is released", () => {
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

  it("a caller that did not ask for usage sees no trace of it", () => {
    const { tap, passed } = tapped(direct, framesOf(transcript));
    const frames = [...passed, ...tap.release()];
    expect(frames).toHaveLength(5);
    expect(frames.some(({ data }) => data.includes("usage"))).toBe(false);
    expect(tap.seen.usage).toMatchObject({ inputTokens: 19, outputTokens: 10, cacheReadTokens: 4 });
  });

  it("T17: cut at any byte, the same frames come out", () => {
    const whole = tapped(direct, framesOf(transcript));
    for (const pieces of everyCut(transcript)) {
      const { passed } = tapped(direct, framesOf(...pieces));
      expect(passed).toEqual(whole.passed);
    }
  });

  it("STREAM-04: an end marker the upstream left out is completed", () => {
    const { tap } = tapped(direct, framesOf(transcript.replace("data: [DONE]\n\n", "")));
    expect(tap.seen.ended).toBe(true);
    expect(dataOf(tap.release()).at(-1)).toBe("[DONE]");
  });

  it("STREAM-04: a finish reason the upstream left out is completed", () => {
    const { tap } = tapped(direct, framesOf(sse(chunk({ content: "hi" }), "[DONE]")));
    expect(tap.seen.ended).toBe(true);
    expect(dataOf(tap.release())).toMatchObject([
      { choices: [{ finish_reason: "stop" }] },
      "[DONE]",
    ]);
  });

  it("a stream without finish reason and end marker has not ended", () => {
    expect(tapped(direct, framesOf(sse(chunk({ content: "hi" })))).tap.seen.ended).toBe(false);
  });

  it("T48 T49: usage in content chunks, in the finish chunk, in the choice and in x_groq counts, the last one told", () => {
    const early = { ...usage, completion_tokens: 1, total_tokens: 20 };
    const streams = [
      sse(chunk({ content: "a" }, null, { usage: early }), chunk({}, "stop", { usage })),
      sse(chunk({ content: "a" }), chunk({}, "stop", { x_groq: { usage } })),
      sse({ ...base, choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] }),
    ];
    for (const stream of streams) {
      const { tap } = tapped(direct, framesOf(stream), { stream_options: { include_usage: true } });
      expect(tap.seen.usage).toMatchObject({ inputTokens: 19, outputTokens: 10 });
      // The caller gets it where OpenAI puts it: in one frame of its own.
      const told = dataOf(tap.release()).filter((frame) => (frame as JsonObject)["usage"]);
      expect(told).toMatchObject([{ choices: [], usage: { completion_tokens: 10 } }]);
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

  it("T16: a broken stream ends with an error chunk and nothing that looks complete", () => {
    const { tap } = tapped(direct, framesOf(sse(chunk({ content: "half" }), chunk({}, "stop"))));
    const frames = dataOf(tap.fail(new GatewayError("upstream_error", "gone")));
    expect(frames).toEqual([
      {
        ...base,
        model: "acme/talk",
        choices: [{ index: 0, delta: {}, finish_reason: "error" }],
        error: { message: "gone", type: "upstream_error", param: null, code: "upstream_error" },
      },
    ]);
    expect(tap.release()).toEqual([]);
    expect(tap.push({ data: JSON.stringify(chunk({ content: "late" })) })).toEqual([]);
  });

  it.each(["<html>bad gateway</html>", '{"id":"x","choices":[{"delta":{"content":"x"}', "[1]"])(
    "T16: the frame %s is an error, not silence",
    (data) => {
      const { tap, passed } = tapped(direct, [{ data }]);
      expect(passed).toEqual([]);
      expect(tap.seen.error?.message).toMatch(/not a JSON object/);
    },
  );

  it("with several choices asked for, the first to finish does not hold back the others", () => {
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

  it("sets the model wherever a vendor writes it: after the choices, not at all, or beside a nested namesake", () => {
    const { model, ...nameless } = base;
    const choices = [
      { index: 0, delta: { content: '"model":"up-large-2026",{' }, finish_reason: null },
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

  it("rewrites any chunk to what parsing it, setting the model and writing it would give", () => {
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
          extra,
          model: "up",
          choices: [{ index: 0, delta: content, usage: null }],
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

describe("a whole chat answer in passing", () => {
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

  it("TXT-11 TXT-14 TXT-21: canonical model, and gw.droppedParams where something was dropped", () => {
    const { model: _model, ...kept } = answer();
    expect(direct.answer(answer(), "acme/talk", [])).toEqual({ ...kept, model: "acme/talk" });
    expect(direct.answer(answer(), "acme/talk", ["service_tier"])).toEqual({
      ...kept,
      model: "acme/talk",
      gw: { droppedParams: ["service_tier"] },
    });
  });

  it("its text is that of all choices", () => {
    const choices = [
      { message: { content: "a", reasoning_content: "r" } },
      { message: { tool_calls: [{ function: { name: "f", arguments: "{}" } }] } },
    ];
    expect(direct.text({ choices })).toBe("arf{}");
    expect(direct.text({})).toBe("");
  });
});

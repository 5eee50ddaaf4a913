import * as fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { noteParams } from "../../../src/base/notes.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { faultOf } from "./support.ts";

const { direct } = chatCodec;
const messages = [{ role: "user", content: "hi" }];
const minimal: JsonObject = { model: "acme/talk", messages };
const fault = (extra: JsonObject): string =>
  faultOf(() => direct.validate({ ...minimal, ...extra }));

describe("the validation of a chat body", () => {
  it.each([
    ["nothing at all", {}, "missing_required_parameter model"],
    ["no messages", { model: "a" }, "missing_required_parameter messages"],
    ["an empty list of messages", { model: "a", messages: [] }, "invalid_value messages"],
    ["messages that are no list", { model: "a", messages: "hi" }, "invalid_type messages"],
    ["a message that is no object", { model: "a", messages: [7] }, "invalid_type messages[0]"],
  ])("refuses %s", (_what, body, expected) => {
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
      { role: "user", content: [{ type: "image_url", image_url: {} }] },
      "missing_required_parameter messages[3].content[0].image_url.url",
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: 7 }] },
      "invalid_type messages[3].content[0].image_url",
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
  ])("checks the message %j: %s", (message, expected) => {
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
    [{ tool_choice: "maybe" }, "invalid_value tool_choice"],
    [{ tool_choice: "any" }, "none"],
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
  ])("checks %j: %s", (extra, expected) => {
    expect(fault(extra)).toBe(expected);
  });

  it("LIM-12: accepts up to four stop sequences", () => {
    expect(fault({ stop: ["a", "b", "c", "d"] })).toBe("none");
    expect(fault({ stop: ["a", "b", "c", "d", "e"] })).toBe("invalid_value stop");
  });

  it("LIM-13: accepts top_logprobs from 0 to 20", () => {
    const faults = [-1, 0, 20, 21].map((count) => fault({ top_logprobs: count }));
    const [below, above] = [
      "integer_below_min_value top_logprobs",
      "integer_above_max_value top_logprobs",
    ];
    expect(faults).toEqual([below, "none", "none", above]);
  });

  it("LIM-16: accepts a prompt cache of 30 minutes and no other time", () => {
    expect(fault({ prompt_cache_options: { ttl: "30m" } })).toBe("none");
    expect(fault({ prompt_cache_options: { ttl: "1h" } })).toBe(
      "invalid_value prompt_cache_options.ttl",
    );
  });

  it("LIM-16: accepts 30 minutes and no other time for a cache marker in the content", () => {
    const marked = (breakpoint: JsonObject) =>
      fault({
        messages: [
          {
            role: "user",
            content: [
              {
                type: "text",
                text: "Hi",
                prompt_cache_breakpoint: { mode: "explicit", ...breakpoint },
              },
            ],
          },
        ],
      });
    expect(["30m", null].map((ttl) => marked({ ttl }))).toEqual(["none", "none"]);
    expect(marked({})).toBe("none");
    expect(marked({ ttl: "12h" })).toBe(
      "invalid_value messages[0].content[0].prompt_cache_breakpoint.ttl",
    );
  });

  it("throws only GatewayErrors, for any JSON", () => {
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
  it("TXT-07: the upstream gets the caller's body, except for the model and fields for metering", () => {
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

  it("TXT-09 TXT-17: service_tier is removed and reported", () => {
    const { body, notes } = direct.request(
      { ...minimal, service_tier: "flex" },
      { model: "m", stream: false },
    );
    expect(body).toEqual({ model: "m", messages });
    expect(notes).toEqual([{ param: "service_tier", kind: "dropped", detail: expect.any(String) }]);
  });

  it("TXT-18 TXT-19: other vendors' spellings of tier and region are removed too", () => {
    const sent = { ...minimal, serviceTier: "x", inference_geo: "eu" };
    const { body, notes } = direct.request(sent, { model: "m", stream: false });
    expect(body).toEqual({ model: "m", messages });
    expect(noteParams(notes)).toEqual(["serviceTier", "inference_geo"]);
  });

  it("T47: a stream asks for its usage, even if the caller declined it", () => {
    const sent = { ...minimal, stream: true, stream_options: { include_usage: false } };
    const { body } = direct.request(sent, { model: "m", stream: true });
    expect(body["stream_options"]).toEqual({ include_usage: true });
  });

  it("a whole answer asks for no stream options", () => {
    expect(direct.request(minimal, { model: "m", stream: false }).body).not.toHaveProperty(
      "stream_options",
    );
  });

  it("TXT-07: any JSON body is forwarded unchanged, except for model, stream fields and filtered fields", () => {
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

it("T60: the failure of an answer whose second choice failed is that choice's error", () => {
  const failed = { index: 1, message: {}, finish_reason: "error", error: { message: "boom" } };
  const choices = [{ index: 0, message: { content: "So" }, finish_reason: "stop" }, failed];
  expect(direct.failure({ choices })).toMatchObject({ message: "boom" });
});

describe("the facts of a chat request", () => {
  it("count text, media and choices, and contain the maximum", () => {
    const facts = direct.facts({ ...agentBody, n: 3, max_tokens: 10, max_completion_tokens: 20 });
    expect(facts).toMatchObject({ maxOutputTokens: 20, answers: 3, inputMedia: 1 });
    expect(facts.inputCharacters).toBeGreaterThan("Be brief.Weather?Let me look.cold".length);
    expect(facts.inputCharacters).toBeLessThan(400);
  });

  it("BILL-23: contain the larger of two maxima, since an upstream may use either", () => {
    const maximum = (extra: JsonObject) => direct.facts({ ...minimal, ...extra }).maxOutputTokens;
    expect(maximum({ max_completion_tokens: 1, max_tokens: 9000 })).toBe(9000);
    expect(maximum({ max_completion_tokens: 1, max_tokens: null })).toBe(1);
    expect(maximum({ max_tokens: 9 })).toBe(9);
    expect(maximum({})).toBeUndefined();
  });

  it("use the prompt cache key before the user, and never safety_identifier", () => {
    const session = (extra: JsonObject) => direct.facts({ ...minimal, ...extra }).session;
    expect(session({ user: "u", prompt_cache_key: "k" })).toBe("k");
    expect(session({ user: "u" })).toBe("u");
    expect(session({ safety_identifier: "s" })).toBeUndefined();
  });
});

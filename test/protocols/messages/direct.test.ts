import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import { noteParams } from "../../../src/base/notes.ts";
import { withDropped } from "../../../src/protocols/dropped-params.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

const { direct } = messagesCodec;
const minimal: JsonObject = {
  model: "acme/talk",
  max_tokens: 100,
  messages: [{ role: "user", content: "hi" }],
};
const content = (block: JsonObject): JsonObject => ({
  ...minimal,
  messages: [{ role: "user", content: [block] }],
});

function faultOf(body: JsonObject): string {
  try {
    direct.validate(body);
    return "none";
  } catch (error) {
    const { code, param } = error as GatewayError;
    return `${code} ${param}`;
  }
}

/** A request of Claude Code, with its own fields beside the protocol's. */
const agentBody: JsonObject = {
  model: "acme/talk",
  max_tokens: 32_000,
  stream: true,
  system: [{ type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } }],
  messages: [
    {
      role: "user",
      content: [{ type: "text", text: "list", cache_control: { type: "ephemeral", ttl: "1h" } }],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "I list.", signature: "c2ln" },
        { type: "tool_use", id: "toolu_1", name: "ls", input: { path: "/" } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_1",
          content: [{ type: "text", text: "a b" }],
          is_error: false,
        },
      ],
    },
    { role: "system", content: "The clock says noon." },
  ],
  tools: [
    { name: "ls", description: "Lists", input_schema: { type: "object" }, defer_loading: true },
    { type: "web_search_20250305", name: "web_search" },
  ],
  thinking: { type: "adaptive" },
  output_config: { effort: "high" },
  context_management: { edits: [{ type: "clear_thinking_20251015" }] },
  metadata: { user_id: "user_1" },
};

describe("the validation of a messages body", () => {
  it.each([
    ["no model", { ...minimal, model: undefined }, "invalid_type model"],
    ["no messages", { model: "a", max_tokens: 1 }, "missing_required_parameter messages"],
    [
      "no max_tokens",
      { model: "a", messages: minimal["messages"]! },
      "missing_required_parameter max_tokens",
    ],
    ["empty messages", { ...minimal, messages: [] }, "invalid_value messages"],
    ["messages of another type", { ...minimal, messages: "hi" }, "invalid_type messages"],
    [
      "an unknown role",
      { ...minimal, messages: [{ role: "tool", content: "" }] },
      "invalid_value messages[0].role",
    ],
    [
      "content of another type",
      { ...minimal, messages: [{ role: "user", content: 5 }] },
      "invalid_type messages[0].content",
    ],
    [
      "a text block without text",
      content({ type: "text" }),
      "missing_required_parameter messages[0].content[0].text",
    ],
    [
      "an image without data",
      content({ type: "image", source: { type: "base64", media_type: "image/png" } }),
      "missing_required_parameter messages[0].content[0].source.data",
    ],
    [
      "a call without input",
      content({ type: "tool_use", id: "a", name: "f" }),
      "missing_required_parameter messages[0].content[0].input",
    ],
    [
      "a result without id",
      content({ type: "tool_result" }),
      "missing_required_parameter messages[0].content[0].tool_use_id",
    ],
    ["max_tokens 0", { ...minimal, max_tokens: 0 }, "integer_below_min_value max_tokens"],
    ["max_tokens as text", { ...minimal, max_tokens: "5" }, "invalid_type max_tokens"],
    [
      "temperature above 1",
      { ...minimal, temperature: 1.1 },
      "integer_above_max_value temperature",
    ],
    [
      "temperature below 0",
      { ...minimal, temperature: -0.1 },
      "integer_below_min_value temperature",
    ],
    ["top_k as a fraction", { ...minimal, top_k: 1.5 }, "invalid_type top_k"],
    [
      "a stop sequence of another type",
      { ...minimal, stop_sequences: ["a", 1] },
      "invalid_type stop_sequences[1]",
    ],
    [
      "a tool without schema",
      { ...minimal, tools: [{ name: "f" }] },
      "missing_required_parameter tools[0].input_schema",
    ],
    [
      "an unknown tool choice",
      { ...minimal, tool_choice: { type: "some" } },
      "invalid_value tool_choice.type",
    ],
    [
      "a named tool choice without name",
      { ...minimal, tool_choice: { type: "tool" } },
      "missing_required_parameter tool_choice.name",
    ],
    [
      "a budget below the minimum",
      { ...minimal, thinking: { type: "enabled", budget_tokens: 10 } },
      "integer_below_min_value thinking.budget_tokens",
    ],
    [
      "an unknown kind of thinking",
      { ...minimal, thinking: { type: "deep" } },
      "invalid_value thinking.type",
    ],
  ] as [string, JsonObject, string][])("ERR-05: refuses %s", (_, body, fault) => {
    expect(faultOf(JSON.parse(JSON.stringify({ ...body, model: body["model"] ?? null })))).toBe(
      fault,
    );
  });

  it("accepts an agent's request: system turns, betas, vendor tools, unknown fields", () => {
    expect(faultOf(agentBody)).toBe("none");
    expect(faultOf(content({ type: "server_tool_of_tomorrow", anything: [1] }))).toBe("none");
  });

  it("accepts null for any optional field", () => {
    const optional = [
      "system",
      "stop_sequences",
      "stream",
      "temperature",
      "top_p",
      "top_k",
      "tools",
      "tool_choice",
      "thinking",
      "metadata",
      "output_config",
    ];
    const nulls = Object.fromEntries(optional.map((name) => [name, null]));
    expect(faultOf({ ...minimal, ...nulls })).toBe("none");
  });
});

describe("the request of a direct messages route", () => {
  const upstream = { model: "vendor-model", stream: true };

  it("TXT-07: is the caller's own body, except for the model", () => {
    const { body, notes } = direct.request(agentBody, upstream);
    expect(body).toEqual({ ...agentBody, model: "vendor-model" });
    expect(notes).toEqual([]);
  });

  it("TXT-07: keeps any unknown field, and never changes the caller's object", () => {
    const extra = fc.dictionary(
      fc.string().map((key) => `x_${key}`),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(extra, (fields) => {
        const body = { ...minimal, ...(fields as JsonObject), service_tier: "auto" };
        const before = structuredClone(body);
        expect(direct.request(body, upstream).body).toEqual({
          ...minimal,
          ...fields,
          model: "vendor-model",
        });
        expect(body).toEqual(before);
      }),
    );
  });

  it("TXT-17 TXT-19: loses service_tier and inference_geo, which is reported", () => {
    const { body, notes } = direct.request(
      { ...minimal, service_tier: "priority", inference_geo: "eu" },
      upstream,
    );
    expect(body).toEqual({ ...minimal, model: "vendor-model" });
    expect(noteParams(notes)).toEqual(["service_tier", "inference_geo"]);
    expect(notes.every((note) => note.kind === "dropped")).toBe(true);
  });
});

describe("the facts of a messages request", () => {
  it("contain maximum, session, characters and media", () => {
    expect(direct.facts({ ...minimal, metadata: { user_id: "user_1" } })).toMatchObject({
      maxOutputTokens: 100,
      answers: 1,
      session: "user_1",
      inputMedia: 0,
    });
    expect(direct.facts(minimal)).toMatchObject({ session: undefined, inputCharacters: 2 });
  });

  it("count all text, and media by number, not by their base64", () => {
    const text = "x".repeat(1000);
    const { inputCharacters, inputMedia } = direct.facts({
      ...minimal,
      system: [{ type: "text", text }],
      messages: [
        {
          role: "user",
          content: [
            {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: "A".repeat(5000) },
            },
            { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text }] },
            { type: "document", source: { type: "text", media_type: "text/plain", data: text } },
          ],
        },
      ],
      tools: [{ name: "f", description: text, input_schema: { type: "object" } }],
    });
    expect(inputMedia).toBe(1);
    expect(inputCharacters).toBeGreaterThan(4000);
    expect(inputCharacters).toBeLessThan(4200);
  });
});

describe("a whole messages answer on a direct route", () => {
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 90 };
  const wire = (): JsonObject => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "vendor-model-2026",
    content: [
      { type: "thinking", thinking: "Hm. ", signature: "s" },
      { type: "text", text: "Hi" },
      { type: "tool_use", id: "t", name: "f", input: { a: 1 } },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage,
  });

  it("TXT-10 TXT-11: has the canonical model id, and is otherwise unchanged", () => {
    expect(direct.answer(wire(), "acme/talk")).toEqual({ ...wire(), model: "acme/talk" });
  });

  it("TXT-14 TXT-21: lists dropped parameters in gw.droppedParams", () => {
    expect(withDropped(direct.answer(wire(), "acme/talk"), ["service_tier"])["gw"]).toEqual({
      droppedParams: ["service_tier"],
    });
  });

  it("has text for an estimate", () => {
    expect(direct.text(wire())).toBe('Hm. Hi{"a":1}');
  });

  it.each([
    [
      "T50: input excludes cache reads on the wire and includes them here",
      usage,
      { inputTokens: 100, cacheReadTokens: 90, outputTokens: 5 },
    ],
    [
      "T54: one-hour cache writes are counted separately",
      {
        input_tokens: 1,
        output_tokens: 1,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      },
      { inputTokens: 31, cacheWriteTokens: 30, cacheWrite1hTokens: 20 },
    ],
    [
      "T61: an explicit 0 is a count",
      { input_tokens: 0, output_tokens: 0 },
      { inputTokens: 0, outputTokens: 0 },
    ],
    [
      "thinking tokens are part of the output",
      { input_tokens: 1, output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } },
      { outputTokens: 50, reasoningTokens: 40 },
    ],
    [
      "a compaction pass, which the totals omit, is added",
      {
        input_tokens: 600,
        output_tokens: 2800,
        iterations: [
          { type: "compaction", input_tokens: 60_000, output_tokens: 500 },
          { type: "message", input_tokens: 600, output_tokens: 2800 },
        ],
      },
      { inputTokens: 60_600, outputTokens: 3300 },
    ],
  ] as [string, JsonObject, object][])("%s", (_, told, expected) => {
    expect(direct.usage({ usage: told })).toMatchObject(expected);
  });

  it("T48 T51: has undefined usage, not zero, if the vendor's is missing or invalid", () => {
    for (const usage of [undefined, null, {}, { output_tokens: 5 }])
      expect(direct.usage({ usage } as JsonObject)).toBeUndefined();
    for (const count of [-5, 0.5, 1e300, "5"])
      expect(direct.usage({ usage: { input_tokens: count, output_tokens: 5 } })).toBeUndefined();
  });
});

describe("the errors of messages", () => {
  it.each([
    ["invalid_type", 400, "invalid_request_error"],
    ["invalid_api_key", 401, "authentication_error"],
    ["insufficient_balance", 402, "billing_error"],
    ["model_not_allowed", 403, "permission_error"],
    ["model_not_found", 404, "not_found_error"],
    ["request_too_large", 413, "request_too_large"],
    ["rate_limit_exceeded", 429, "rate_limit_error"],
    ["internal_error", 500, "api_error"],
    ["upstream_error", 502, "api_error"],
    ["no_provider_available", 503, "overloaded_error"],
    ["upstream_timeout", 504, "timeout_error"],
  ] as const)("are written for %s as %i %s", (code, status, type) => {
    const error = new GatewayError(code, "Why.", { param: "messages[0]" });
    expect(error.status).toBe(status);
    expect(messagesCodec.encodeError(error, "req_1")).toEqual({
      type: "error",
      error: { type, message: "Why.", details: { error_code: code, param: "messages[0]" } },
      request_id: "req_1",
    });
  });

  it.each([
    [
      "the vendor's own shape",
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      { message: "Overloaded", type: "overloaded_error" },
    ],
    [
      "a coded error",
      {
        type: "error",
        error: { type: "billing_error", message: "No.", details: { error_code: "spend_limit" } },
      },
      { message: "No.", code: "spend_limit" },
    ],
    ["a compatible vendor's shape", { error: { message: "Bad.", code: 400 } }, { message: "Bad." }],
    ["a bare message", { message: "Bad.", type: "error" }, { message: "Bad.", type: undefined }],
    ["text", "upstream connect error", { message: "upstream connect error" }],
    ["an HTML page", "<html><h1>Bad gateway</h1></html>", { message: "Bad gateway" }],
    ["a list", [{ error: { message: "Bad." } }], { message: "Bad." }],
    ["nothing", undefined, { message: "The upstream answered with status 502." }],
  ] as [string, unknown, object][])("are read from %s", (_, body, expected) => {
    expect(messagesCodec.decodeError(502, body)).toMatchObject(expected);
  });

  it("are read from a body of any shape without an exception", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(typeof messagesCodec.decodeError(500, body).message).toBe("string");
      }),
    );
  });
});

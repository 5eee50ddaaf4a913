import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { readUsage, writeUsage } from "../../../src/protocols/chat/usage.ts";

/** A usage object with these numbers: prompt, completion, total, cached, reasoning. */
function usageOf(...numbers: number[]): JsonObject {
  const [prompt = 0, completion = 0, total = 0, cached = 0, reasoning = 0] = numbers;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

describe("the usage of chat upstreams", () => {
  it.each<[string, JsonObject, number[]]>([
    [
      "OpenAI: cached inside the prompt, reasoning inside the completion",
      usageOf(100, 70, 170, 90, 20),
      [100, 90, 70, 20],
    ],
    ["xAI: reasoning beside the completion", usageOf(12, 2, 354, 11, 340), [12, 11, 342, 340]],
    ["T50: cache reads only in the total", usageOf(10, 5, 105, 90), [100, 90, 5, 0]],
    ["cache reads and reasoning only in the total", usageOf(10, 5, 35, 14, 6), [24, 14, 11, 6]],
    ["cache reads above the prompt", usageOf(10, 5, 15, 90), [100, 90, 5, 0]],
    ["a total that explains nothing", usageOf(10, 5, 99, 3, 2), [10, 3, 5, 2]],
    ["Google: reasoning in the total alone", usageOf(20, 198, 623), [20, 0, 603, 405]],
    [
      "Google: reasoning in the total alone, beside cache reads within the prompt",
      usageOf(1469, 744, 2496, 1024),
      [1469, 1024, 1027, 283],
    ],
    ["T61: an explicit 0 is a count", usageOf(0, 0, 0), [0, 0, 0, 0]],
    [
      "T51: reasoning above the completion is bounded by it",
      usageOf(10, 5, 15, 0, 9),
      [10, 0, 5, 5],
    ],
  ])("%s", (_what, usage, [inputTokens, cacheReadTokens, outputTokens, reasoningTokens]) => {
    expect(readUsage(usage)).toMatchObject({
      inputTokens,
      cacheReadTokens,
      outputTokens,
      reasoningTokens,
    });
  });

  it("includes what Perplexity's research model reads, thinks and searches beside its answer", () => {
    const usage = {
      prompt_tokens: 108,
      completion_tokens: 3256,
      total_tokens: 3364,
      citation_tokens: 7299,
      num_search_queries: 74,
      reasoning_tokens: 73248,
    };
    expect(readUsage(usage)).toMatchObject({
      inputTokens: 7407,
      outputTokens: 76504,
      reasoningTokens: 73248,
      webSearches: 74,
    });
    expect(chatCodec.direct.answer({ usage }, "m")["usage"]).toMatchObject({
      prompt_tokens: 7407,
      completion_tokens: 76504,
      total_tokens: 83911,
      completion_tokens_details: { reasoning_tokens: 73248 },
    });
    // Its other models bill nothing beside their answers.
    const other = { ...usage, reasoning_tokens: 200 };
    expect(readUsage(other)).toMatchObject({ inputTokens: 108, outputTokens: 3256 });
  });

  it("T46: includes cache reads in every spelling", () => {
    const spellings = [
      { prompt_cache_hit_tokens: 7, prompt_cache_miss_tokens: 3 },
      { cached_tokens: 7 },
      // Databricks and Snowflake, as Claude does.
      { cache_read_input_tokens: 7, cache_creation_input_tokens: 0 },
      // Mistral.
      { num_cached_tokens: 7 },
      { prompt_token_details: { cached_tokens: 7 } },
    ];
    for (const spelling of spellings) {
      const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, ...spelling };
      expect(readUsage(usage)?.cacheReadTokens).toBe(7);
    }
  });

  it("T46: a zero in one spelling hides no count in another, as LiteLLM sends them", () => {
    const usage = {
      ...usageOf(10, 1, 11),
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, cache_creation_tokens: 2 },
      cache_read_input_tokens: 7,
    };
    expect(readUsage(usage)).toMatchObject({ cacheReadTokens: 7, cacheWriteTokens: 2 });
  });

  it("includes cache writes in every spelling, without overlapping reads", () => {
    for (const key of [
      "cache_write_tokens",
      "cache_creation_input_tokens",
      "cache_creation_tokens",
    ]) {
      const usage = {
        ...usageOf(10, 1, 11),
        prompt_tokens_details: { cached_tokens: 6, [key]: 9 },
      };
      expect(readUsage(usage)).toMatchObject({ cacheReadTokens: 6, cacheWriteTokens: 4 });
    }
  });

  it.each<[string, number[], number[]]>([
    // prompt, completion, total, read, written; and all input, read, written
    ["Portkey: both only in the total", [10, 5, 3015, 2000, 1000], [3010, 2000, 1000]],
    ["Portkey: a first call only writes", [10, 5, 12_015, 0, 12_000], [12_010, 0, 12_000]],
    ["both beside a total of the sides", [10, 5, 15, 2000, 1000], [3010, 2000, 1000]],
    ["more written than the prompt has", [100, 5, 105, 20, 1000], [1120, 20, 1000]],
    ["only reads beside the prompt", [1500, 5, 3505, 2000, 1000], [3500, 2000, 1000]],
    ["all within the prompt", [3010, 5, 3015, 2000, 1000], [3010, 2000, 1000]],
    ["a prompt smaller than both", [10, 5, 15, 6, 9], [10, 6, 4]],
  ])("T50: counts cache writes that are not in the prompt (%s)", (_what, told, wanted) => {
    const [prompt = 0, completion = 0, total = 0, read = 0, written = 0] = told;
    const usage = {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: total,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
    };
    const [inputTokens, cacheReadTokens, cacheWriteTokens] = wanted;
    expect(readUsage(usage)).toMatchObject({
      inputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      outputTokens: completion,
    });
    expect(chatCodec.direct.answer({ usage }, "m")["usage"]).toMatchObject({
      prompt_tokens: inputTokens,
    });
  });

  it.each([
    [undefined],
    [null],
    ["12"],
    [{}],
    [{ prompt_tokens: 5 }],
    [{ prompt_tokens: -1, completion_tokens: 4 }],
    [{ prompt_tokens: 1.5, completion_tokens: 4 }],
  ])("T48: is absent for %j", (usage) => {
    expect(readUsage(usage)).toBeUndefined();
  });

  it("is completed from the total if one side is missing", () => {
    expect(readUsage({ prompt_tokens: 5, total_tokens: 5 })).toMatchObject({
      inputTokens: 5,
      outputTokens: 0,
    });
    expect(readUsage({ completion_tokens: 5, total_tokens: 9 })).toMatchObject({
      inputTokens: 4,
      outputTokens: 5,
    });
  });

  it("CONV-801 CONV-805 CONV-809 CONV-813: is written under chat's own names", () => {
    const usage = readUsage(usageOf(100, 70, 170, 90, 20))!;
    expect(writeUsage(usage)).toEqual({
      prompt_tokens: 100,
      completion_tokens: 70,
      total_tokens: 170,
      prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 20 },
    });
    expect(readUsage(writeUsage(usage))).toEqual(usage);
  });

  it("shows a direct caller the billed numbers", () => {
    const answer = chatCodec.direct.answer({ usage: usageOf(12, 2, 354, 11, 340) }, "acme/talk");
    expect(answer["usage"]).toMatchObject({
      prompt_tokens: 12,
      completion_tokens: 342,
      total_tokens: 354,
    });
  });

  it.each<[string, JsonObject, object]>([
    [
      "DeepSeek",
      { prompt_cache_hit_tokens: 7, prompt_cache_miss_tokens: 3, total_tokens: 15 },
      { prompt_cache_hit_tokens: 7, prompt_tokens_details: { cached_tokens: 7 }, total_tokens: 15 },
    ],
    [
      "Moonshot, beside other details",
      { cached_tokens: 7, prompt_tokens_details: { audio_tokens: 2 }, total_tokens: 15 },
      { cached_tokens: 7, prompt_tokens_details: { audio_tokens: 2, cached_tokens: 7 } },
    ],
    [
      "reasoning at the top",
      { reasoning_tokens: 4, total_tokens: 15 },
      { reasoning_tokens: 4, completion_tokens_details: { reasoning_tokens: 4 } },
    ],
  ])(
    "CONV-809 CONV-813: shows a direct caller parts of the counts in the protocol's place (%s)",
    (_what, members, wanted) => {
      const usage = { prompt_tokens: 10, completion_tokens: 5, ...members };
      const answer = chatCodec.direct.answer({ usage }, "acme/talk");
      expect(answer["usage"]).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, ...wanted });
    },
  );

  it("gets no fields that the vendor did not count", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    expect(chatCodec.direct.answer({ usage }, "acme/talk")["usage"]).toEqual(usage);
  });
});

describe("an error of a chat upstream", () => {
  const decode = (body: unknown) => chatCodec.decodeError(502, body);

  it.each<[string, unknown, object]>([
    [
      "OpenAI",
      {
        error: {
          message: "no",
          type: "invalid_request_error",
          param: "max_tokens",
          code: "unsupported_parameter",
        },
      },
      {
        message: "no",
        type: "invalid_request_error",
        param: "max_tokens",
        code: "unsupported_parameter",
      },
    ],
    [
      "xAI",
      { code: "invalid_argument", error: "no such model" },
      { message: "no such model", code: "invalid_argument" },
    ],
    [
      "OpenRouter",
      {
        error: {
          code: 429,
          message: "Provider returned error",
          metadata: { error_type: "rate_limit", raw: "slow down" },
        },
      },
      { message: "Provider returned error: slow down", code: "429", type: "rate_limit" },
    ],
    [
      "vLLM",
      { object: "error", message: "too long", type: "BadRequestError", code: 400 },
      { message: "too long", code: "400" },
    ],
    [
      "FastAPI",
      { detail: [{ loc: ["body"], msg: "field required" }] },
      { message: "field required" },
    ],
    [
      "FastAPI, with places",
      {
        detail: [
          { loc: ["body", "messages", 0, "user", "name"], msg: "Extra inputs are not permitted" },
          { loc: ["body", "store"], msg: "Extra inputs are not permitted" },
        ],
      },
      {
        message:
          "messages.0.user.name: Extra inputs are not permitted; store: Extra inputs are not permitted",
      },
    ],
    [
      "Mistral",
      {
        object: "error",
        message: { detail: [{ type: "extra_forbidden", loc: ["body", "seed"], msg: "No." }] },
        type: "invalid_request_error",
        param: null,
        code: null,
        raw_status_code: 422,
      },
      { message: "seed: No.", type: "invalid_request_error" },
    ],
    [
      "Cloudflare",
      {
        result: null,
        success: false,
        errors: [{ code: 7003, message: "No route." }],
        messages: [],
      },
      { message: "No route." },
    ],
    [
      "Cloudflare's gateway",
      { success: false, result: [], messages: [], error: [{ code: 2009, message: "Refused." }] },
      { message: "Refused." },
    ],
    [
      "Vercel",
      {
        error: {
          code: "error",
          message: "Stream error occurred",
          name: "AI_TypeValidationError",
          value: { error_type: "validation_error", error_message: '{"error":"too long"}' },
        },
      },
      { message: 'Stream error occurred: {"error":"too long"}', code: "error" },
    ],
    [
      "Mistral, without the object",
      { object: "Error", message: [{ loc: ["body", "tools"], msg: "No." }], code: 3001 },
      { message: "tools: No.", code: "3001" },
    ],
    ["an array", [{ error: { message: "quota", code: 429 } }], { message: "quota", code: "429" }],
    ["HTML", "<html><body><h1>502 Bad Gateway</h1></body></html>", { message: "502 Bad Gateway" }],
    ["text", "upstream connect error", { message: "upstream connect error" }],
    ["nothing", undefined, { message: "The upstream answered with status 502." }],
    ["a number", 7, { message: "The upstream answered with status 502." }],
    ["an empty object", {}, { message: "The upstream answered with status 502." }],
    [
      "an unusual nested value",
      { error: { message: { x: 1 } } },
      { message: "The upstream answered with status 502." },
    ],
  ])("is read in this format: %s", (_vendor, body, expected) => {
    expect(decode(body)).toMatchObject(expected);
  });

  it("is cut if its message has megabytes", () => {
    expect(decode({ error: { message: "x".repeat(5_000_000) } }).message.length).toBeLessThan(5000);
    expect(decode("<".repeat(1_000_000)).message.length).toBeLessThan(5000);
    const loc = Array.from({ length: 1_000_000 }, () => "x".repeat(9));
    const detail = Array.from({ length: 1000 }, () => ({ loc, msg: "m".repeat(9000) }));
    expect(decode({ detail }).message.length).toBeLessThan(5000);
  });

  it("ERR-01: is written with all four keys", () => {
    const error = new GatewayError("model_not_found", "No such model.");
    expect(chatCodec.encodeError(error, "req_1")).toEqual({
      error: {
        message: "No such model.",
        type: "not_found_error",
        param: null,
        code: "model_not_found",
      },
    });
  });
});

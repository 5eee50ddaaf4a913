/**
 * The fields of `POST /v1/responses` on a direct route, row by row: the upstream's value of each, the dropped and reported
 * ones, the refused ones. Requirements: RESP.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { shortAnswer, type Body } from "./support.ts";

let upstream: Recorder;
let gateway: GatewayUnderTest;

const textModel = (id: string, lacks: string) => `
  - id: acme/${id}
    kind: text
    endpoints: [responses]
    context_length: 100000
    max_output_tokens: 8000
    parameters: { ${lacks}: false }
    offers:
      - { provider: up, protocol: responses, upstream_model: up-1, price: { input: "1", output: "2" } }`;

beforeAll(async () => {
  upstream = await startRecorder(shortAnswer);
  gateway = await startTestGateway({
    config: `
providers:
  - { id: up, dialect: openai, base_url: "${upstream.url}/v1", api_key: secret }
models:${textModel("newest", "prompt_cache_retention")}${textModel("earlier", "prompt_cache_options")}
`,
  });
  await gateway.credit("100");
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

interface Outcome {
  readonly status: number;
  /** The body that the upstream received. Undefined if it was not asked. */
  readonly seen: Body | undefined;
  readonly dropped: unknown;
  readonly answer: Body;
}

async function send(fields: Body, model = "acme/newest"): Promise<Outcome> {
  const before = upstream.requests.length;
  const reply = await gateway.post("/v1/responses", { model, input: "Hi", ...fields });
  const answer = (await reply.json()) as Body;
  const dropped = (answer["gw"] as Body | undefined)?.["droppedParams"];
  return { status: reply.status, seen: upstream.requests[before]?.body, dropped, answer };
}

const tools = [{ type: "function", name: "f", parameters: { type: "object" } }];

/** The upstream receives each of these as it was sent, and nothing else. */
const passed: readonly (readonly [title: string, values: readonly Body[]])[] = [
  [
    "RESP-19: may be any effort",
    ["none", "minimal", "low", "medium", "high", "xhigh", "max"].map((effort) => ({
      reasoning: { effort },
    })),
  ],
  [
    "RESP-21: may be any kind of summary",
    ["auto", "concise", "detailed"].map((summary) => ({ reasoning: { summary } })),
  ],
  [
    "RESP-22: may be either reasoning mode",
    ["standard", "pro"].map((mode) => ({ reasoning: { mode } })),
  ],
  [
    "RESP-23: may be any reasoning context",
    ["auto", "current_turn", "all_turns"].map((context) => ({ reasoning: { context } })),
  ],
  ["RESP-28: may be include", [{ include: ["reasoning.encrypted_content", "of.the.future"] }]],
  [
    "RESP-30: may need the upstream's own state",
    [
      {
        background: true,
        context_management: [{ type: "compaction", compact_threshold: 9 }],
        conversation: { id: "conv_1" },
        prompt: { id: "pmpt_1", variables: { a: "b" } },
      },
    ],
  ],
  ["RESP-32: may be truncation", [{ truncation: "auto" }, { truncation: "disabled" }]],
  ["RESP-33: may be metadata", [{ metadata: { b: "2", a: "1" } }]],
  ["RESP-34: may be store", [{ store: true }, { store: false }]],
  ["RESP-35: may be user", [{ user: "user-1" }]],
  [
    "RESP-39: may be include_obfuscation",
    [
      { stream_options: { include_obfuscation: false } },
      { stream_options: { include_obfuscation: true } },
    ],
  ],
  ["RESP-42: may be top_logprobs", [{ top_logprobs: 0 }, { top_logprobs: 20 }]],
  ["RESP-43: may be max_tool_calls", [{ max_tool_calls: 3 }]],
  ["RESP-44: may be safety_identifier", [{ safety_identifier: "hash" }]],
  [
    "RESP-18: may be any verbosity",
    ["low", "medium", "high"].map((verbosity) => ({ text: { verbosity } })),
  ],
];

describe("a field that is forwarded", () => {
  it.each(passed)("%s", async (_title, values) => {
    for (const fields of values) {
      const { status, seen, dropped } = await send(fields);
      expect({ status, seen, dropped }).toEqual({
        status: 200,
        seen: { model: "up-1", input: "Hi", ...fields },
        dropped: undefined,
      });
    }
  });

  it("RESP-20: is not added: no effort is sent if the caller sent none", async () => {
    for (const fields of [{}, { reasoning: {} }, { reasoning: { summary: "auto" } }]) {
      const { seen } = await send(fields);
      expect(JSON.stringify(seen)).not.toContain("effort");
    }
  });

  it("RESP-16: may depend on others: parallel_tool_calls is sent only with tools", async () => {
    for (const parallel_tool_calls of [true, false]) {
      expect((await send({ parallel_tool_calls, tools })).seen).toMatchObject({
        parallel_tool_calls,
      });
      const without = await send({ parallel_tool_calls });
      expect(without.seen).toEqual({ model: "up-1", input: "Hi" });
      expect(without.dropped).toEqual(["parallel_tool_calls"]);
      expect((await send({ parallel_tool_calls, tools: [] })).seen).not.toHaveProperty(
        "parallel_tool_calls",
      );
    }
  });

  it("RESP-46 RESP-47 RESP-48: may depend on the model: prompt_cache_options is forwarded on the newest family, and dropped and reported on an earlier one", async () => {
    for (const mode of ["implicit", "explicit"]) {
      const prompt_cache_options = { ttl: "30m", mode };
      const newest = await send({ prompt_cache_options });
      expect(newest.seen).toEqual({ model: "up-1", input: "Hi", prompt_cache_options });
      const earlier = await send({ prompt_cache_options }, "acme/earlier");
      expect(earlier).toMatchObject({ status: 200, dropped: ["prompt_cache_options"] });
      expect(earlier.seen).not.toHaveProperty("prompt_cache_options");
    }
    const ttl = await send({ prompt_cache_options: { ttl: "1h" } });
    const mode = await send({ prompt_cache_options: { mode: "eager" } });
    expect([ttl.status, ttl.seen, mode.status, mode.seen]).toEqual([
      400,
      undefined,
      400,
      undefined,
    ]);
  });

  it("RESP-49: may depend on the model: prompt_cache_retention is forwarded on an earlier model, and dropped and reported on the newest family", async () => {
    for (const prompt_cache_retention of ["in_memory", "24h"]) {
      const earlier = await send({ prompt_cache_retention }, "acme/earlier");
      expect(earlier.seen).toEqual({ model: "up-1", input: "Hi", prompt_cache_retention });
      const newest = await send({ prompt_cache_retention });
      expect(newest).toMatchObject({ status: 200, dropped: ["prompt_cache_retention"] });
      expect(newest.seen).not.toHaveProperty("prompt_cache_retention");
    }
  });
});

describe("a field that is dropped and reported", () => {
  it("RESP-40 RESP-41 TXT-09 TXT-17: may be service_tier, with any value", async () => {
    for (const tier of ["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]) {
      const { status, seen, dropped } = await send({ service_tier: tier });
      expect({ status, seen, dropped }).toEqual({
        status: 200,
        seen: { model: "up-1", input: "Hi" },
        dropped: ["service_tier"],
      });
    }
  });

  it("RESP-29: may be previous_response_id", async () => {
    const { status, seen, dropped } = await send({ previous_response_id: "resp_0" });
    expect({ status, seen, dropped }).toEqual({
      status: 200,
      seen: { model: "up-1", input: "Hi" },
      dropped: ["previous_response_id"],
    });
  });

  it("RESP-39: may be any member of stream_options except include_obfuscation", async () => {
    const stream_options = { include_usage: true, include_obfuscation: false };
    const { seen, dropped } = await send({ stream_options });
    expect(seen!["stream_options"]).toEqual({ include_obfuscation: false });
    expect(dropped).toEqual(["stream_options.include_usage"]);
  });
});

describe("a value that is refused", () => {
  const refused: readonly (readonly [title: string, fields: Body, param: string])[] = [
    ["RESP-32: may be an unknown truncation", { truncation: "some" }, "truncation"],
    ["RESP-42: may be too many top_logprobs", { top_logprobs: 21 }, "top_logprobs"],
    ["RESP-18: may be an unknown verbosity", { text: { verbosity: "much" } }, "text.verbosity"],
    ["RESP-50: may be moderation as text", { moderation: "low" }, "moderation"],
  ];
  it.each(refused)("%s", async (_title, fields, param) => {
    const { status, seen, answer } = await send(fields);
    expect({ status, seen }).toEqual({ status: 400, seen: undefined });
    expect(answer["error"]).toMatchObject({ type: "invalid_request_error", param });
  });

  it("RESP-24 TXT-20: may be refused by the upstream: an unknown effort gets the upstream's own error", async () => {
    const error = {
      message: "Unsupported value: 'ultra' is not supported with this model.",
      type: "invalid_request_error",
      param: "reasoning.effort",
      code: "unsupported_value",
    };
    upstream.answer(json({ error }, 400));
    const { status, seen, answer } = await send({ reasoning: { effort: "ultra" } });
    upstream.answer(shortAnswer);
    expect(seen!["reasoning"]).toEqual({ effort: "ultra" });
    expect({ status, answer }).toEqual({ status: 400, answer: { error } });
  });

  it("RESP-50: excludes moderation as an object, which is forwarded", async () => {
    const moderation = { model: "omni", policy: { input: { mode: "block" } } };
    expect((await send({ moderation })).seen).toMatchObject({ moderation });
  });
});

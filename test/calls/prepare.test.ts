/** The preparation of a text call before it costs anything: its routes, its record, its upper bound. TXT; ROUTE; T64. */
import { describe, expect, it } from "vitest";
import { readJson } from "../../src/base/json.ts";
import { JsonSource } from "../../src/base/json-source.ts";
import { CallBody } from "../../src/calls/call-body.ts";
import type { TextCall, TextServices } from "../../src/calls/context.ts";
import { findModel } from "../../src/calls/models.ts";
import { prepare } from "../../src/calls/prepare.ts";
import { codecs } from "../../src/protocols/index.ts";
import { catalogIn } from "../support/config-text.ts";
import { anyCaller, newHealth, price, providerRow, recordAt, textRow } from "./support.ts";

const chatOffer = (provider: string, more = "") =>
  `provider: ${provider}, protocol: chat, ${price("1")}${more}`;
/** Models of which one caches what is marked: each other row differs in one point. */
function cachingRows(): string[] {
  const offer = (name: string, { protocol = "messages", rates = cacheRates } = {}) =>
    `provider: ${protocol === "converse" ? "cloud" : "first"}, protocol: ${protocol}, upstream_model: ${name}, price: { input: "1", ${rates}output: "1" }`;
  const rows: Record<string, readonly [offer: string, more?: string]> = {
    marked: [offer("claude-sonnet-5")],
    "marked-converse": [offer("us.anthropic.claude-sonnet-5", { protocol: "converse" })],
    // Converse keeps a caller's own markers only for models with Amazon's names.
    "profile-converse": [offer("claude-profile", { protocol: "converse" })],
    "no-claude": [offer("deepseek-v4")],
    "no-writes": [offer("claude-sonnet-5", { rates: 'cache_read: "0.1", ' })],
    "no-reads": [offer("claude-sonnet-5", { rates: 'cache_write: "1.25", ' })],
    "off-by-record": [offer("claude-sonnet-5"), "parameters: { prompt_cache_key: false }"],
    "in-chat": [offer("claude-sonnet-5", { protocol: "chat" })],
  };
  return Object.entries(rows).map(([name, [one, more = ""]]) =>
    textRow(`acme/${name}`, [one], more).replace("upstream_model: up, ", ""),
  );
}
const cacheRates = 'cache_read: "0.1", cache_write: "1.25", ';

const catalog = catalogIn(
  [
    "providers:",
    providerRow("first"),
    providerRow("second"),
    providerRow("own").replace("openai-compatible", "openai"),
    providerRow("cloud", "https://bedrock-runtime.us-east-1.amazonaws.com").replace(
      "openai-compatible",
      "bedrock",
    ),
    "models:",
    textRow("acme/talk", [chatOffer("first")], "fallbacks: [acme/other]"),
    textRow("acme/other", [chatOffer("second")]),
    textRow(
      "acme/dear",
      [`provider: first, protocol: chat, ${price("8")}`],
      "fallbacks: [acme/other]",
    ),
    textRow(
      "acme/narrow",
      [chatOffer("first", ", record: { parameters: { seed: false, temperature: { max: 1 } } }")],
      "parameters: { top_p: false }",
    ),
    ...["gpt", "keyless"].map((name) =>
      textRow(
        `acme/${name}`,
        [`provider: own, protocol: chat, upstream_model: gpt-5.6, ${price("1")}`],
        name === "gpt" ? "" : "parameters: { prompt_cache_key: false }",
      ).replace("upstream_model: up, ", ""),
    ),
    textRow("acme/both", [
      `provider: first, protocol: messages, upstream_model: claude-sonnet-5, price: { input: "1", ${cacheRates}output: "1" }`,
      `provider: own, protocol: responses, upstream_model: gpt-5.6, ${price("1")}`,
    ]).replaceAll("upstream_model: up, ", ""),
    textRow("acme/claude", [`provider: first, protocol: messages, ${price("1")}`]),
    ...cachingRows(),
  ].join("\n"),
);
const services = {
  catalog: () => catalog,
  health: newHealth(),
  allowPrivateAddresses: false,
  forceConversion: false,
} as unknown as TextServices;

const weather = { type: "function", function: { name: "weather" } };
const startedMs = 1_700_000_000_999;

function prepared(model: string, more: object = {}, protocol = "chat") {
  const said = { model, messages: [{ role: "user", content: "Hi" }], ...more };
  const body = new CallBody(new JsonSource(readJson(Buffer.from(JSON.stringify(said)))));
  const call = { id: "req_1", protocol, model, stream: false, body, caller: anyCaller };
  const record = recordAt(startedMs);
  const { candidates } = prepare(services, call as unknown as TextCall, record);
  return { record, body, first: candidates[0]!, candidates };
}

it("ERR-12: a session of Claude Code is no prompt cache key of a model whose record lacks one", () => {
  const metadata = { user_id: '{"session_id":"s1"}' };
  const sent = (model: string) =>
    prepared(model, { max_tokens: 9, metadata }, "messages").first.route().body;
  expect(sent("acme/gpt")).toMatchObject({ prompt_cache_key: "s1" });
  expect(sent("acme/keyless")).not.toHaveProperty("prompt_cache_key");
});

describe("a prompt_cache_key", () => {
  const call = (model: string) => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ];
    return prepared(model, { messages, prompt_cache_key: "s1" }).first;
  };
  const listed = (model: string) =>
    findModel(catalog, undefined, model)?.supported_parameters["prompt_cache_key"];

  it.each(["marked", "marked-converse"])(
    "CONV-418: marks the call of model %s for its prompt cache",
    (name) => {
      const { body } = call(`acme/${name}`).route();
      expect(JSON.stringify(body)).toMatch(/cache_control|cachePoint/);
      expect(listed(`acme/${name}`)).toBeDefined();
    },
  );

  it.each(["no-claude", "profile-converse", "no-writes", "no-reads", "off-by-record", "in-chat"])(
    "CONV-217: does not mark the call of model %s",
    (name) => {
      const first = call(`acme/${name}`);
      expect(JSON.stringify(first.route().body)).not.toMatch(/cache_control|cachePoint/);
      expect(first.notes()).toHaveLength(name === "in-chat" ? 0 : 1);
      expect(listed(`acme/${name}`) !== undefined).toBe(name === "in-chat");
    },
  );
});

it("CONV-418: each provider of one model gets the session in its own way, whichever is asked first", () => {
  const { candidates } = prepared("acme/both", { prompt_cache_key: "s1", tools: [weather] });
  const sent = new Map(candidates.map((candidate) => [candidate.offer.protocol, candidate]));
  const [claude, gpt] = [sent.get("messages")!, sent.get("responses")!];
  expect(claude.route().body).toMatchObject({ tools: [{ cache_control: { type: "ephemeral" } }] });
  expect(claude.route().body).not.toHaveProperty("prompt_cache_key");
  expect(claude.notes()).toMatchObject([{ param: "prompt_cache_key", kind: "rewritten" }]);
  expect(gpt.route().body).toMatchObject({ prompt_cache_key: "s1" });
  expect(JSON.stringify(gpt.route().body)).not.toContain("cache_control");
  expect(gpt.notes()).toEqual([]);
});

describe("the record of a prepared call", () => {
  it("contains the plans of the fallback models and its own", () => {
    const { record, candidates } = prepared("acme/talk");
    expect(candidates.map(({ model }) => model)).toEqual(["acme/talk", "acme/other"]);
    expect(record.plan).toMatchObject({ fallbacks: [{ model: "acme/other" }] });
    expect(prepared("acme/other").record.plan).not.toHaveProperty("fallbacks");
  });
});

it.each(["acme/narrow", "acme/claude"])(
  "TXT-07: the route and the notes of a request for %s are equal when they are made again after being discarded",
  (model) => {
    const { first, body } = prepared(model, { top_p: 0.5, seed: 7 });
    const [sent, notes] = [first.route().body, first.notes()];
    expect(notes).not.toEqual([]);
    first.discardDerived();
    body.discardDerived();
    expect(first.notes()).toEqual(notes);
    expect(first.route().body).not.toBe(sent);
    expect(first.route().body).toEqual(sent);
  },
);

describe("the upper bound", () => {
  it.each(["max_tokens", "max_completion_tokens"])(
    "T64: covers the most that the model can make, if the %s of a call is the largest integer",
    (name) => {
      const reserved = (maximum: number) =>
        prepared("acme/talk", { [name]: maximum }).record.reservedNano;
      expect(reserved(2_147_483_647)).toBe(reserved(8_000));
      expect(reserved(8_000)).toBeGreaterThan(reserved(4_096));
    },
  );

  it("T64: is that of the dearest model that may answer, wherever it stands among them", () => {
    const reserved = (model: string) => prepared(model).record.reservedNano;
    expect(reserved("acme/dear")).toBe(8n * reserved("acme/other"));
    const { record } = prepared("acme/other", { models: ["acme/dear"] });
    expect(record.reservedNano).toBe(reserved("acme/dear"));
  });

  it("T64: reads the maximum of a responses call, including the largest integer", () => {
    const { direct } = codecs.responses;
    const maximum = (value: number | null) =>
      direct.facts({ input: "Hi", max_output_tokens: value }).maxOutputTokens;
    expect([2_147_483_647, 7, null].map(maximum)).toEqual([2_147_483_647, 7, undefined]);
  });
});

describe("an offer that does less than its model", () => {
  it("drops the parameters that the model or the offer lacks, and reports both in the caller's order", () => {
    const { first } = prepared("acme/narrow", { seed: 7, temperature: 0.5, top_p: 0.5 });
    expect(first.route().body).toMatchObject({ temperature: 0.5 });
    expect(first.route().body).not.toHaveProperty("seed");
    expect(first.route().body).not.toHaveProperty("top_p");
    expect(first.notes().map(({ param }) => param)).toEqual(["seed", "top_p"]);
  });

  it("refuses values outside its own limits", () => {
    expect(() => prepared("acme/narrow", { temperature: 1.5 })).toThrow(
      expect.objectContaining({ code: "invalid_value", param: "temperature" }),
    );
  });
});

describe("a prepared call", () => {
  it("is answered with the second of its start, if it is converted", () => {
    const answer = prepared("acme/claude")
      .first.route()
      .answer(
        {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "up",
          content: [{ type: "text", text: "OK" }],
          stop_reason: "end_turn",
          usage: { input_tokens: 1, output_tokens: 1 },
        },
        [],
        { inputTokens: 1, outputTokens: 1 } as never,
      );
    expect(answer).toMatchObject({ object: "chat.completion", created: 1_700_000_000 });
  });

  it("reserves the maximum that is sent to its upstream, if room for reasoning raises it", () => {
    const plain = prepared("acme/claude", { max_completion_tokens: 50 });
    const asked = { max_completion_tokens: 50, reasoning_effort: "high" };
    const { record, first } = prepared("acme/claude", asked);
    const sent = first.route().body["max_tokens"] as number;
    expect(sent).toBeGreaterThan(50);
    // A token of output costs 1,000 nano-USD.
    expect(record.reservedNano).toBeGreaterThanOrEqual(BigInt(sent) * 1_000n);
    expect(record.reservedNano).toBeGreaterThan(plain.record.reservedNano);
  });

  it("reserves the model's default if it names no maximum", () => {
    const { record } = prepared("acme/talk");
    // 4,096 tokens of output, and a few of input; each costs 1,000 nano-USD.
    expect(record.reservedNano).toBeGreaterThanOrEqual(4_096_000n);
    expect(record.reservedNano).toBeLessThan(4_196_000n);
  });
});

/**
 * What a call costs, to the nano-dollar, from the usage its upstream told, in each protocol, whole and streamed:
 * the ledger entry, the key's spend and the request log must name the same amount.
 */
import { expect, it } from "vitest";
import { formatUsd, parseUsd } from "../../src/base/money.ts";
import { json, sse } from "../support/recorder.ts";
import {
  answering,
  completion,
  delta,
  describeGateways,
  errorOf,
  eventually,
  idOf,
  sleep,
  usageOf,
  type Bench,
} from "./support.ts";

/** Nano-dollars a token, from dollars a million: 1 dollar a million is 1000 nano a token. */
const config = (url: string) => `
providers:
  - { id: openai, dialect: openai-compatible, base_url: ${url}/v1, api_key: none }
  - { id: anthropic, dialect: anthropic, base_url: ${url}/v1, api_key: none }
  - { id: google, dialect: google, base_url: ${url}/v1beta, api_key: none }
models:
  - id: acme/chat
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    offers:
      - { provider: openai, protocol: chat, upstream_model: c,
          price: { input: "3.000001", cache_read: "0.30", cache_write: "3.75", output: "15", reasoning: "20", request: "0.000001001" } }
  - id: acme/responses
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    offers: [{ provider: openai, protocol: responses, upstream_model: r, price: { input: "1.25", cache_read: "0.125", output: "10" } }]
  - id: acme/messages
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    offers: [{ provider: anthropic, protocol: messages, upstream_model: m, price: { input: "3", cache_read: "0.30", cache_write: "3.75", output: "15" } }]
  - id: acme/gemini
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    offers: [{ provider: google, protocol: generate_content, upstream_model: g, price: { input: "2", cache_read: "0.2", output: "12" } }]
  - id: acme/long
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    offers:
      - { provider: openai, protocol: chat, upstream_model: l, price: { input: "1", output: "4" },
          price_above: { input_tokens: 200000, price: { input: "2", output: "6" } } }
`;

const frame = (event: string, data: object) =>
  `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`;

/** One protocol's way to be asked and to tell a usage. */
interface Row {
  readonly name: string;
  readonly path: string;
  readonly streamPath?: string;
  readonly body: Record<string, unknown>;
  readonly whole: object;
  readonly stream: string;
  readonly costNano: bigint;
  readonly usage: Record<string, number>;
}

const chatUsage = {
  prompt_tokens: 1_000,
  completion_tokens: 300,
  total_tokens: 1_300,
  prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 100 },
  completion_tokens_details: { reasoning_tokens: 200 },
};
const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "c", ...fields })}\n\n`;
const responsesUsage = {
  input_tokens: 5_001,
  input_tokens_details: { cached_tokens: 4_096 },
  output_tokens: 77,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 5_078,
};
const responsesAnswer = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "r",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hi", annotations: [] }],
    },
  ],
  usage: responsesUsage,
};
const messagesUsage = {
  input_tokens: 50,
  cache_read_input_tokens: 2_000,
  cache_creation_input_tokens: 1_500,
  cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 1_000 },
  output_tokens: 40,
};
const messageOf = (usage: object, content: object[]) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content,
  stop_reason: content.length === 0 ? null : "end_turn",
  stop_sequence: null,
  usage,
});
const geminiAnswer = {
  candidates: [
    { content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP", index: 0 },
  ],
  usageMetadata: {
    promptTokenCount: 1_000,
    cachedContentTokenCount: 900,
    candidatesTokenCount: 10,
    thoughtsTokenCount: 90,
    totalTokenCount: 1_100,
  },
  modelVersion: "g",
};

const rows: readonly Row[] = [
  {
    name: "chat with cache reads and writes, reasoning and a price per call (T53)",
    path: "/v1/chat/completions",
    body: { model: "acme/chat", messages: [{ role: "user", content: "Hi" }] },
    whole: { ...completion(chatUsage), model: "c" },
    stream:
      chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "Hi" } }] }) +
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) +
      chunk({ choices: [], usage: chatUsage }) +
      "data: [DONE]\n\n",
    // 300 x 3000.001 + 600 x 300 + 100 x 3750 + 100 x 15000 + 200 x 20000 = 6,955,000.3, rounded up, + 1,001.
    costNano: 6_955_001n + 1_001n,
    usage: {
      inputTokens: 1_000,
      cacheReadTokens: 600,
      cacheWriteTokens: 100,
      cacheWrite1hTokens: 0,
      outputTokens: 300,
      reasoningTokens: 200,
    },
  },
  {
    name: "responses with cache reads and reasoning at the output price",
    path: "/v1/responses",
    body: { model: "acme/responses", input: "Hi" },
    whole: responsesAnswer,
    stream:
      frame("response.created", {
        response: { ...responsesAnswer, status: "in_progress", output: [], usage: null },
      }) +
      frame("response.output_text.delta", {
        item_id: "msg_1",
        output_index: 0,
        content_index: 0,
        delta: "Hi",
      }) +
      frame("response.completed", { response: responsesAnswer }),
    // 905 x 1250 + 4096 x 125 + 77 x 10000
    costNano: 1_131_250n + 512_000n + 770_000n,
    usage: {
      inputTokens: 5_001,
      cacheReadTokens: 4_096,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 77,
      reasoningTokens: 64,
    },
  },
  {
    name: "messages with cache reads, five-minute and one-hour writes (T53, T54)",
    path: "/v1/messages",
    body: { model: "acme/messages", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
    whole: messageOf(messagesUsage, [{ type: "text", text: "Hi" }]),
    stream:
      frame("message_start", { message: messageOf({ ...messagesUsage, output_tokens: 1 }, []) }) +
      frame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
      frame("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hi" } }) +
      frame("content_block_stop", { index: 0 }) +
      frame("message_delta", {
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 40 },
      }) +
      frame("message_stop", {}),
    // 50 x 3000 + 2000 x 300 + 500 x 3750 + 1000 x 6000 (twice the input price) + 40 x 15000
    costNano: 150_000n + 600_000n + 1_875_000n + 6_000_000n + 600_000n,
    usage: {
      inputTokens: 3_550,
      cacheReadTokens: 2_000,
      cacheWriteTokens: 1_500,
      cacheWrite1hTokens: 1_000,
      outputTokens: 40,
      reasoningTokens: 0,
    },
  },
  {
    name: "generateContent with cache hits inside the prompt and thoughts beside the candidates (T53)",
    path: "/v1beta/models/acme/gemini:generateContent",
    streamPath: "/v1beta/models/acme/gemini:streamGenerateContent?alt=sse",
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
    whole: geminiAnswer,
    stream:
      `data: ${JSON.stringify({
        candidates: [{ content: { role: "model", parts: [{ text: "H" }] }, index: 0 }],
        usageMetadata: { promptTokenCount: 1_000, totalTokenCount: 1_000 },
      })}\n\n` + `data: ${JSON.stringify(geminiAnswer)}\n\n`,
    // 100 x 2000 + 900 x 200 + 100 x 12000
    costNano: 200_000n + 180_000n + 1_200_000n,
    usage: {
      inputTokens: 1_000,
      cacheReadTokens: 900,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 100,
      reasoningTokens: 90,
    },
  },
];

/** Makes a call, and checks its amount in all three places. */
async function expectCost(
  bench: Bench,
  call: () => Promise<Response>,
  expected: { costNano: bigint; usage?: Record<string, number>; source?: string },
): Promise<void> {
  const before = parseUsd((await bench.keySpend()).total);
  const availableBefore = await bench.availableNano();
  const response = await call();
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const id = idOf(response);
  const entry = await bench.entry(id);
  expect(entry).toMatchObject({ kind: "charge", amount_nano: expected.costNano });
  expect(entry!.held_nano).toBeGreaterThanOrEqual(0n);
  const spend = await bench.keySpend();
  const spent = formatUsd(before + expected.costNano);
  expect(spend).toEqual({ total: spent, daily: spent, weekly: spent, monthly: spent });
  expect(await bench.availableNano()).toBe(availableBefore - expected.costNano);
  const row = await bench.logRow(id);
  expect(row).toMatchObject({
    status: "succeeded",
    http_status: 200,
    cost_nano: expected.costNano,
    usage_source: expected.source ?? "upstream",
  });
  if (expected.usage) expect(row.usage).toEqual(expected.usage);
}

describeGateways("the cost of a call", { config }, (bench) => {
  it.each(rows)("BILL-01: $name", async (row) => {
    bench().up.answer(json(row.whole));
    await expectCost(bench(), () => bench().post(row.path, row.body), row);
    bench().up.answer(sse(row.stream));
    const body = row.streamPath ? row.body : { ...row.body, stream: true };
    await expectCost(bench(), () => bench().post(row.streamPath ?? row.path, body), row);
  });

  it("T64: a call above the long-context mark costs the dear tier for all of its tokens", async () => {
    const call = () =>
      bench().post("/v1/chat/completions", {
        model: "acme/long",
        messages: [{ role: "user", content: "Hi" }],
      });
    bench().up.answer(json(completion(usageOf(200_000, 1_000))));
    await expectCost(bench(), call, { costNano: 200_000n * 1_000n + 1_000n * 4_000n });
    bench().up.answer(json(completion(usageOf(200_001, 1_000))));
    await expectCost(bench(), call, { costNano: 200_001n * 2_000n + 1_000n * 6_000n });
  });

  it("T61: a usage of zero is a usage: nothing but the price per call is charged, and nothing is estimated", async () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    for (const stream of [false, true]) {
      bench().up.answer(answering(zero, ["A text that would cost something if it were counted."]));
      await expectCost(
        bench(),
        () =>
          bench().post("/v1/chat/completions", {
            model: "acme/chat",
            stream,
            messages: [{ role: "user", content: "Hi" }],
          }),
        { costNano: 1_001n },
      );
    }
  });

  it("an answer without usage is charged by the tokens of its text, and the row says so", async () => {
    for (const stream of [false, true]) {
      bench().up.answer(answering(undefined, ["Hello", " there"]));
      const response = await bench().post("/v1/chat/completions", {
        model: "acme/long",
        stream,
        messages: [{ role: "user", content: "Hi" }],
      });
      await response.text();
      const row = await bench().logRow(idOf(response));
      expect(row).toMatchObject({ usage_source: "estimated", status: "succeeded" });
      expect(row.usage!["outputTokens"]).toBe(2);
      const nano = BigInt(row.usage!["inputTokens"]!) * 1_000n + 2n * 4_000n;
      expect(row.cost_nano).toBe(nano);
      expect(await bench().entry(row.id)).toMatchObject({ kind: "charge", amount_nano: nano });
    }
  });

  it("BILL-22 T60: an upstream's error text is not output: whatever it answers, nothing is charged and the hold is gone", async () => {
    const long = "The engine is overloaded, please try again later. ".repeat(200);
    const failures = [
      { answer: json({ error: { message: long } }, 500), status: 502 },
      { answer: json({ error: { message: long } }, 400), status: 400 },
      { answer: sse(`data: ${JSON.stringify({ error: { message: long } })}\n\n`), status: 502 },
      {
        answer: sse(
          delta("A beginning") + `data: ${JSON.stringify({ error: { message: long } })}\n\n`,
        ),
        status: 200,
      },
    ];
    const before = await bench().keySpend();
    for (const { answer, status } of failures) {
      bench().up.answer(answer);
      const response = await bench().post("/v1/chat/completions", {
        model: "acme/chat",
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
      });
      expect(response.status).toBe(status);
      const text = await response.text();
      expect(text).toContain('"error"');
      expect(text).not.toContain("[DONE]");
      const row = await bench().logRow(idOf(response));
      expect(row).toMatchObject({ status: "failed", cost_nano: 0n });
      expect(await bench().entry(row.id)).toMatchObject({ kind: "void", amount_nano: 0n });
    }
    expect(await bench().keySpend()).toEqual(before);
    await bench().expectClean();
  });

  it("T64: parallel long calls are admitted at their dear tier, and never pass a hard cap together", async () => {
    const long = "x".repeat(900_000); // about 300,000 tokens: 0.60 USD at the dear tier, 0.30 at the other
    const spent = parseUsd((await bench().keySpend()).total);
    await bench().setCaps("key", { totalNano: spent + parseUsd("1.90"), hard: true });
    const open: (() => void)[] = [];
    const answer = json(completion(usageOf(300_000, 0)));
    bench().up.answer((request, response) => {
      open.push(() => void answer(request, response));
    });
    const count = bench().up.requests.length;
    const calls = Array.from({ length: 5 }, () =>
      bench().post("/v1/chat/completions", {
        model: "acme/long",
        max_tokens: 100,
        messages: [{ role: "user", content: long }],
      }),
    );
    let refused = 0;
    for (const call of calls)
      void call.then((response) => (refused += response.status === 402 ? 1 : 0));
    await eventually(
      () => (refused === 2 && open.length === 3 ? true : undefined),
      "three in, two out",
    );
    await sleep(50);
    expect(bench().up.requests.length - count).toBe(3);
    for (const release of open) release();
    const responses = await Promise.all(calls);
    const ok = responses.filter((response) => response.status === 200);
    expect(ok).toHaveLength(3);
    for (const response of ok)
      expect(await bench().entry(idOf(response))).toMatchObject({ amount_nano: parseUsd("0.6") });
    for (const response of responses.filter((one) => one.status !== 200)) {
      expect(await errorOf(response)).toMatchObject({ code: "key_total_spend_cap_reached" });
    }
    await bench().setCaps("key", null);
    await bench().expectClean();
  });

  it("BILL-02: a call moves the ledger of its key's workspace, and no other", async () => {
    bench().up.answer(json(completion(usageOf(10, 10))));
    const other = await bench().addWorkspace("5");
    const before = await bench().ledger.balance(bench().workspaceId);
    const response = await bench().post(
      "/v1/chat/completions",
      { model: "acme/long", messages: [{ role: "user", content: "Hi" }] },
      { authorization: `Bearer ${other.key}` },
    );
    expect(response.status).toBe(200);
    await response.text();
    expect(await bench().ledger.balance(bench().workspaceId)).toEqual(before);
    expect(await bench().ledger.balance(other.workspaceId)).toMatchObject({
      creditsNano: parseUsd("5"),
      chargedNano: 50_000n,
      heldNano: 0n,
    });
  });
});

/**
 * Web searches that run at the vendor, as each protocol reports them: reserved, charged per search or per answer, and shown line by
 * line. docs/models.md.
 */
import { expect, it } from "vitest";
import { formatUsd, parseUsd } from "../../src/base/money.ts";
import { json, sse } from "../support/recorder.ts";
import { describeGateways, errorOf, idOf } from "./support.ts";

const tokens = 'input: "1", output: "2"';
const config = (url: string) => `
providers:
  - { id: openai, dialect: openai-compatible, base_url: ${url}/v1, api_key: none }
  - { id: anthropic, dialect: anthropic, base_url: ${url}/v1, api_key: none }
  - { id: google, dialect: google, base_url: ${url}/v1beta, api_key: none }
models:
  - { id: acme/chat, kind: text, context_length: 100000, max_output_tokens: 1000, offers: [
      { provider: openai, protocol: chat, upstream_model: c, price: { ${tokens}, web_search: "0.01" } }] }
  - { id: acme/responses, kind: text, context_length: 100000, max_output_tokens: 1000, offers: [
      { provider: openai, protocol: responses, upstream_model: r, price: { ${tokens}, web_search: "0.01" } }] }
  - { id: acme/messages, kind: text, context_length: 100000, max_output_tokens: 1000, offers: [
      { provider: anthropic, protocol: messages, upstream_model: m, price: { ${tokens}, web_search: "0.01" } }] }
  - { id: acme/gemini, kind: text, context_length: 100000, max_output_tokens: 1000, offers: [
      { provider: google, protocol: generate_content, upstream_model: g, price: { ${tokens}, web_search: "0.014" } }] }
  - { id: acme/long, kind: text, context_length: 100000, max_output_tokens: 1000, offers: [
      { provider: anthropic, protocol: messages, upstream_model: l, price: { ${tokens}, web_search: "0.01", request: "0.002" },
        price_above: { input_tokens: 50, price: { ${tokens} } } }] }
  - { id: acme/by-answer, kind: text, context_length: 100000, max_output_tokens: 1000, offers: [
      { provider: google, protocol: generate_content, upstream_model: a, price: { ${tokens}, web_search_answer: "0.035" } }] }
`;

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const named = (type: string, fields: object) => `event: ${type}\n${data({ type, ...fields })}`;

const chatUsage = {
  prompt_tokens: 100,
  completion_tokens: 10,
  total_tokens: 110,
  server_tool_use: { web_search_requests: 2 },
};
const chatHead = { id: "c", created: 1, model: "c" };
const chat = {
  path: "/v1/chat/completions",
  body: { model: "acme/chat", messages: [{ role: "user", content: "Hi" }], web_search_options: {} },
  whole: {
    ...chatHead,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "So" }, finish_reason: "stop" }],
    usage: chatUsage,
  },
  stream:
    data({
      ...chatHead,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { content: "So" }, finish_reason: "stop" }],
    }) +
    data({ ...chatHead, object: "chat.completion.chunk", choices: [], usage: chatUsage }) +
    "data: [DONE]\n\n",
};

const search = (id: string, action: object) => ({
  type: "web_search_call",
  id,
  status: "completed",
  action,
});
const items = [
  search("ws_1", { type: "search", query: "a" }),
  search("ws_2", { type: "open_page", url: "https://example.com" }),
  search("ws_3", { type: "search", query: "b" }),
  {
    type: "message",
    id: "msg_1",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: "So", annotations: [] }],
  },
];
const response = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "r",
  output: items,
  usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
};
const itemFrames = items
  .map((item, index) =>
    named("response.output_item.done", { sequence_number: index + 1, output_index: index, item }),
  )
  .join("");
const created = named("response.created", {
  sequence_number: 0,
  response: { ...response, status: "in_progress", output: [], usage: null },
});
const responses = {
  path: "/v1/responses",
  body: { model: "acme/responses", input: "Hi", tools: [{ type: "web_search" }] },
  whole: response,
  // Some vendors omit the items in the last event.
  stream:
    created +
    itemFrames +
    named("response.completed", { sequence_number: 9, response: { ...response, output: [] } }),
};

const messagesUsage = {
  input_tokens: 100,
  output_tokens: 10,
  server_tool_use: { web_search_requests: 2 },
};
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "So" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: messagesUsage,
};
const messages = {
  path: "/v1/messages",
  body: {
    model: "acme/messages",
    max_tokens: 100,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }],
  },
  whole: message,
  stream:
    named("message_start", {
      message: {
        ...message,
        content: [],
        stop_reason: null,
        usage: { input_tokens: 100, output_tokens: 1 },
      },
    }) +
    named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
    named("content_block_delta", { index: 0, delta: { type: "text_delta", text: "So" } }) +
    named("content_block_stop", { index: 0 }) +
    named("message_delta", { delta: { stop_reason: "end_turn" }, usage: messagesUsage }) +
    named("message_stop", {}),
};

const grounded = (model: string) => {
  const whole = {
    candidates: [
      {
        index: 0,
        content: { role: "model", parts: [{ text: "So" }] },
        finishReason: "STOP",
        groundingMetadata: { webSearchQueries: ["", "a", "b", "a"] },
      },
    ],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
  };
  return {
    path: `/v1beta/models/acme/${model}:generateContent`,
    streamPath: `/v1beta/models/acme/${model}:streamGenerateContent?alt=sse`,
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }], tools: [{ googleSearch: {} }] },
    whole,
    stream: data(whole),
  };
};

/** 100 tokens in and 10 out, and two searches. */
const tokensNano = 100n * 1_000n + 10n * 2_000n;
const rows = [
  { name: "chat", ...chat, nano: 20_000_000n },
  { name: "responses", ...responses, nano: 20_000_000n },
  { name: "messages", ...messages, nano: 20_000_000n },
  { name: "generateContent", ...grounded("gemini"), nano: 28_000_000n },
  { name: "generateContent, billed by the answer", ...grounded("by-answer"), nano: 35_000_000n },
];

describeGateways("web searches", { config }, (bench) => {
  it.each(rows)("BILL-01: $name: searches are charged, whole and streamed", async (row) => {
    const { path, body, nano } = row;
    const streamPath = "streamPath" in row ? row.streamPath : path;
    const calls = [
      { path, body, answer: json(row.whole) },
      { path: streamPath, body: { ...body, stream: true }, answer: sse(row.stream) },
    ];
    for (const call of calls) {
      bench().up.answer(call.answer);
      const answered = await bench().post(call.path, call.body);
      expect({ status: answered.status, text: await answered.text() }).toMatchObject({
        status: 200,
      });
      const [entry, logged] = [
        await bench().entry(idOf(answered)),
        await bench().logRow(idOf(answered)),
      ];
      expect(entry).toMatchObject({ kind: "charge", amount_nano: tokensNano + nano });
      expect(logged).toMatchObject({ cost_nano: tokensNano + nano, usage: { webSearches: 2 } });
    }
  });

  it("BILL-01: searches and the request price stay the same in a long-context tier that does not set them", async () => {
    bench().up.answer(json(message));
    const answered = await bench().post(messages.path, { ...messages.body, model: "acme/long" });
    expect({ status: answered.status, text: await answered.text() }).toMatchObject({ status: 200 });
    const amount_nano = tokensNano + 20_000_000n + 2_000_000n;
    expect(await bench().entry(idOf(answered))).toMatchObject({ amount_nano });
  });

  it("BILL-01: an answer without a search is charged only its tokens, although it could have searched", async () => {
    const { usage, ...whole } = chat.whole;
    bench().up.answer(json({ ...whole, usage: { ...usage, server_tool_use: null } }));
    const answered = await bench().post(chat.path, chat.body);
    await answered.text();
    expect(await bench().entry(idOf(answered))).toMatchObject({ amount_nano: tokensNano });
    const { usage: logged } = await bench().logRow(idOf(answered));
    expect(logged).not.toHaveProperty("webSearches");
  });

  it("T51: an impossible number of searches is not charged", async () => {
    const usage = { ...messagesUsage, server_tool_use: { web_search_requests: 1e6 } };
    bench().up.answer(json({ ...message, usage }));
    const answered = await bench().post(messages.path, messages.body);
    await answered.text();
    expect(await bench().entry(idOf(answered))).toMatchObject({ amount_nano: tokensNano });
  });

  it("CAP-03: searches are reserved with their call, and the caller's own limit lowers that", async () => {
    const spent = parseUsd((await bench().keySpend()).total);
    // The cap covers four searches. A call without a bound is assumed to need ten.
    await bench().setCaps("key", { totalNano: spent + 40_000_000n, hard: true });
    bench().up.answer(json(responses.whole));
    const refused = await bench().post(responses.path, responses.body);
    expect((await errorOf(refused)).code).toBe("key_total_spend_cap_reached");
    const bounded = { ...responses.body, max_tool_calls: 2 };
    const answered = await bench().post(responses.path, bounded);
    expect({ status: answered.status, text: await answered.text() }).toMatchObject({ status: 200 });
    await bench().setCaps("key", null);
    await bench().expectClean();
  });

  it("BILL-23: an enormous search limit reserves only what can be charged, and the refusal is a 402", async () => {
    const [tool] = messages.body.tools;
    const tools = [{ ...tool, max_uses: 1_000_000_000 }];
    const refused = await bench().post(messages.path, { ...messages.body, tools });
    const { message: told } = await errorOf(refused);
    expect({ status: refused.status, told }).toEqual({
      status: 402,
      told: expect.stringContaining("may cost up to $100.0"),
    });
    // This holds even if a large call before it has left headroom.
    const balance = await bench().availableNano();
    expect(told).toContain(`the workspace has $${formatUsd(balance)} available`);
  });

  const found = (index: number, content: unknown) =>
    named("content_block_start", {
      index,
      content_block: { type: "web_search_tool_result", tool_use_id: `srv_${index}`, content },
    });
  const started = named("message_start", {
    message: {
      ...message,
      content: [],
      stop_reason: null,
      usage: { input_tokens: 100, output_tokens: 1 },
    },
  });
  const failed = { type: "web_search_tool_result_error", error_code: "unavailable" };

  it.each([
    { name: "responses", ...responses, begun: created + itemFrames, last: "ws_3" },
    {
      name: "messages",
      ...messages,
      begun: started + found(0, []) + found(1, failed) + found(2, []),
      last: "srv_2",
    },
  ])(
    "T47: a stream of $name whose caller left is charged the searches that were seen",
    async (row) => {
      const { path, body, begun, last } = row;
      bench().up.answer((_request, answer) => {
        answer.writeHead(200, { "content-type": "text/event-stream" }).write(begun);
      });
      const answered = await bench().post(path, { ...body, stream: true });
      const reader = answered.body!.getReader();
      let seen = "";
      while (!seen.includes(last)) seen += new TextDecoder().decode((await reader.read()).value);
      await reader.cancel();
      const { usage, cost_nano: cost } = await bench().logRow(idOf(answered));
      expect(usage).toMatchObject({ webSearches: 2 });
      expect(cost).toBeGreaterThan(20_000_000n);
      expect(await bench().entry(idOf(answered))).toMatchObject({ amount_nano: cost });
    },
  );
});

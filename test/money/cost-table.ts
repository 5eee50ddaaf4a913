/** Usages as vendors of each protocol report them, and their exact costs at the prices below. */
import { completion } from "./support.ts";

/** Prices are dollars per million tokens: 1 dollar is 1000 nano-dollars per token. */
export const config = (url: string) => `
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

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const frame = (event: string, data: object) =>
  `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`;

/** One protocol's request, and its answer with a usage. */
export interface Row {
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

export const rows: readonly Row[] = [
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
      data({
        candidates: [{ content: { role: "model", parts: [{ text: "H" }] }, index: 0 }],
        usageMetadata: { promptTokenCount: 1_000, totalTokenCount: 1_000 },
      }) + data(geminiAnswer),
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

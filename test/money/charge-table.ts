/**
 * Calls of every kind except plain text: the vendor's usage, and the cost, calculated by hand. `source` is the origin of the
 * vendor's numbers: recordings or wire formats next to the repository, or a page of the documentation.
 */
import { completion } from "./support.ts";

export interface Charge {
  readonly name: string;
  readonly source: string;
  readonly model: string;
  readonly path: string;
  /** Without the model. */
  readonly body: object;
  /** The vendor's answer. Absent: the sandbox answers. */
  readonly answer?: object;
  readonly nano: bigint;
  /** Name, quantity, USD per unit, USD. */
  readonly lines: readonly (readonly [string, string, string, string])[];
  /** The counts in `/usage`; all others are 0. */
  readonly counts: Readonly<Record<string, number>>;
}

const text = (id: string, offer: string) =>
  `  - { id: ${id}, kind: text, context_length: 2000000, max_output_tokens: 32000, offers: [{ upstream_model: m, ${offer} }] }\n`;

export const config = (url: string) => `
providers:
  - { id: openai, dialect: openai-compatible, base_url: ${url}/v1, api_key: none }
  - { id: anthropic, dialect: anthropic, base_url: ${url}/v1, api_key: none }
  - { id: google, dialect: google, base_url: ${url}/v1beta, api_key: none }
models:
${text("acme/searching", 'provider: anthropic, protocol: messages, price: { input: "3", output: "15", web_search: "0.01" }')}\
${text("acme/caching", 'provider: anthropic, protocol: messages, price: { input: "3", cache_read: "0.30", cache_write: "3.75", output: "15" }')}\
${text("acme/grounded", 'provider: google, protocol: generate_content, price: { input: "0.3", output: "2.5", web_search_answer: "0.035" }')}\
${text("acme/listening", 'provider: google, protocol: generate_content, price: { input: "2", cache_read: "0.2", output: "10", audio_input: "40" }')}\
${text("acme/painting", 'provider: google, protocol: generate_content, price: { input: "0.3", output: "2.5", image_output: "30" }')}\
${text("acme/speaking", 'provider: openai, protocol: chat, price: { input: "2", output: "10", audio_input: "40", audio_output: "80" }')}\
${text("acme/drawing", 'provider: openai, protocol: responses, price: { input: "1", output: "2", image_tool_input: "5", image_tool_image_input: "8", image_tool_output: "30" }')}\
  - { id: acme/vectors, kind: embedding, context_length: 8192, offers: [
      { provider: openai, upstream_model: v, price: { input: "0.02", request: "0.0001" } }] }
  - { id: acme/pictures, kind: image, family: image-a, offers: [
      { provider: openai, upstream_model: i, price: { input: "5", image_input: "8", output: "10", image_output: "30" } }] }
`;

const messages = [{ role: "user", content: "Hi" }];
const message = (usage: object) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "So" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage,
});
const contents = [{ role: "user", parts: [{ text: "Hi" }] }];
const generated = (usageMetadata: object, more: object = {}) => ({
  candidates: [
    {
      content: { role: "model", parts: [{ text: "So" }] },
      finishReason: "STOP",
      index: 0,
      ...more,
    },
  ],
  usageMetadata,
});
const gemini = (name: string) => `/v1beta/models/acme/${name}:generateContent`;

/** Charges by an upstream's usage. `picture`: the picture that it makes, as base64. */
export const usageCharges = (picture: string): readonly Charge[] => [
  {
    name: "web searches, each at a price",
    source: "recordings/anthropic/anthropic-web-search-tool.1.json",
    model: "acme/searching",
    path: "/v1/messages",
    body: {
      max_tokens: 999,
      messages,
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }],
    },
    answer: message({
      input_tokens: 27_118,
      output_tokens: 600,
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
    }),
    // 27,118 x 3,000 + 600 x 15,000 + 2 x 10,000,000
    nano: 110_354_000n,
    lines: [
      ["input_tokens", "27118", "3", "0.081354"],
      ["output_tokens", "600", "15", "0.009"],
      ["web_searches", "2", "0.01", "0.02"],
    ],
    counts: { input_tokens: 27_118, output_tokens: 600, web_searches: 2, web_search_answers: 1 },
  },
  {
    name: "cache writes of five minutes and of an hour",
    source: "wire/messages.md",
    model: "acme/caching",
    path: "/v1/messages",
    body: { max_tokens: 100, messages },
    answer: message({
      input_tokens: 50,
      cache_read_input_tokens: 2_000,
      cache_creation_input_tokens: 1_500,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 1_000 },
      output_tokens: 40,
    }),
    // 50 x 3,000 + 2,000 x 300 + 500 x 3,750 + 1,000 x 6,000 (twice the input price) + 40 x 15,000
    nano: 9_225_000n,
    lines: [
      ["input_tokens", "50", "3", "0.00015"],
      ["output_tokens", "40", "15", "0.0006"],
      ["cache_read_tokens", "2000", "0.3", "0.0006"],
      ["cache_write_tokens", "500", "3.75", "0.001875"],
      ["cache_write_1h_tokens", "1000", "6", "0.006"],
    ],
    counts: {
      input_tokens: 3_550,
      output_tokens: 40,
      cache_read_tokens: 2_000,
      cache_write_tokens: 1_500,
      cache_write_1h_tokens: 1_000,
    },
  },
  {
    name: "an answer with any number of web searches, and with thoughts",
    source: "wire/generate-content.md",
    model: "acme/grounded",
    path: gemini("grounded"),
    body: { contents, tools: [{ google_search: {} }] },
    answer: generated(
      {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 3,
        totalTokenCount: 18,
      },
      { groundingMetadata: { webSearchQueries: ["a", "b"] } },
    ),
    // 10 x 300 + 8 x 2,500 + 35,000,000
    nano: 35_023_000n,
    lines: [
      ["input_tokens", "10", "0.3", "0.000003"],
      ["output_tokens", "5", "2.5", "0.0000125"],
      ["reasoning_tokens", "3", "2.5", "0.0000075"],
      ["web_search_answers", "1", "0.035", "0.035"],
    ],
    counts: {
      input_tokens: 10,
      output_tokens: 8,
      reasoning_tokens: 3,
      web_searches: 2,
      web_search_answers: 1,
    },
  },
  {
    name: "audio input, some of it from a cache",
    source: "docs/models.md: cached sound costs as much less as cached text",
    model: "acme/listening",
    path: gemini("listening"),
    body: { contents },
    answer: generated({
      promptTokenCount: 1_000,
      cachedContentTokenCount: 500,
      candidatesTokenCount: 10,
      totalTokenCount: 1_010,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 400 },
        { modality: "AUDIO", tokenCount: 600 },
      ],
      cacheTokensDetails: [
        { modality: "TEXT", tokenCount: 200 },
        { modality: "AUDIO", tokenCount: 300 },
      ],
    }),
    // 200 x 2,000 + 300 x 40,000 + 200 x 200 + 300 x 4,000 (a tenth, as of text) + 10 x 10,000
    nano: 13_740_000n,
    lines: [
      ["input_tokens", "200", "2", "0.0004"],
      ["output_tokens", "10", "10", "0.0001"],
      ["audio_input_tokens", "300", "40", "0.012"],
      ["cache_read_tokens", "200", "0.2", "0.00004"],
      ["audio_cache_read_tokens", "300", "4", "0.0012"],
    ],
    counts: {
      input_tokens: 1_000,
      output_tokens: 10,
      cache_read_tokens: 500,
      audio_input_tokens: 600,
      audio_cache_read_tokens: 300,
    },
  },
  {
    name: "audio in and out",
    source: "wire/chat-completions.md: prompt_tokens_details and completion_tokens_details",
    model: "acme/speaking",
    path: "/v1/chat/completions",
    body: { messages },
    answer: completion({
      prompt_tokens: 1_000,
      completion_tokens: 500,
      total_tokens: 1_500,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 600 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 200 },
    }),
    // 400 x 2,000 + 600 x 40,000 + 300 x 10,000 + 200 x 80,000
    nano: 43_800_000n,
    lines: [
      ["input_tokens", "400", "2", "0.0008"],
      ["output_tokens", "300", "10", "0.003"],
      ["audio_input_tokens", "600", "40", "0.024"],
      ["audio_output_tokens", "200", "80", "0.016"],
    ],
    counts: {
      input_tokens: 1_000,
      output_tokens: 500,
      audio_input_tokens: 600,
      audio_output_tokens: 200,
    },
  },
  {
    name: "a picture that a text model makes",
    source: "wire/generate-content.md; 1,290 tokens are one picture of Gemini",
    model: "acme/painting",
    path: gemini("painting"),
    body: { contents },
    answer: generated({
      promptTokenCount: 10,
      candidatesTokenCount: 1_295,
      totalTokenCount: 1_305,
      candidatesTokensDetails: [
        { modality: "TEXT", tokenCount: 5 },
        { modality: "IMAGE", tokenCount: 1_290 },
      ],
    }),
    // 10 x 300 + 5 x 2,500 + 1,290 x 30,000
    nano: 38_715_500n,
    lines: [
      ["input_tokens", "10", "0.3", "0.000003"],
      ["output_tokens", "5", "2.5", "0.0000125"],
      ["image_output_tokens", "1290", "30", "0.0387"],
    ],
    counts: { input_tokens: 10, output_tokens: 1_295, image_output_tokens: 1_290 },
  },
  {
    name: "pictures by the vendor's own tool",
    source:
      "docs/models.md: tool_usage.image_gen; usage of recordings/openai/responses/openai-image-generation-tool.1.json",
    model: "acme/drawing",
    path: "/v1/responses",
    body: { input: "Draw a boat", tools: [{ type: "image_generation" }] },
    answer: {
      id: "resp_1",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "m",
      output: [{ type: "image_generation_call", id: "ig_1", status: "completed", result: "aGk=" }],
      usage: {
        input_tokens: 3_151,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1_970,
        output_tokens_details: { reasoning_tokens: 1_920 },
        total_tokens: 5_121,
      },
      tool_usage: {
        image_gen: {
          input_tokens: 1_000,
          input_tokens_details: { text_tokens: 400, image_tokens: 600 },
          output_tokens: 4_160,
          output_tokens_details: { text_tokens: 0, image_tokens: 4_160 },
          total_tokens: 5_160,
        },
      },
    },
    // 3,151 x 1,000 + 1,970 x 2,000 + 400 x 5,000 + 600 x 8,000 + 4,160 x 30,000
    nano: 138_691_000n,
    lines: [
      ["input_tokens", "3151", "1", "0.003151"],
      ["output_tokens", "50", "2", "0.0001"],
      ["reasoning_tokens", "1920", "2", "0.00384"],
      ["image_tool_input_tokens", "400", "5", "0.002"],
      ["image_tool_input_image_tokens", "600", "8", "0.0048"],
      ["image_tool_output_tokens", "4160", "30", "0.1248"],
    ],
    counts: {
      input_tokens: 3_151,
      output_tokens: 1_970,
      reasoning_tokens: 1_920,
      image_tool_text_tokens: 400,
      image_tool_image_tokens: 600,
      image_tool_output_tokens: 4_160,
    },
  },
  {
    name: "embeddings",
    source: "docs/models.md: input and request",
    model: "acme/vectors",
    path: "/v1/embeddings",
    body: { input: "Hi" },
    answer: {
      object: "list",
      model: "v",
      data: [{ object: "embedding", index: 0, embedding: [0.1] }],
      usage: { prompt_tokens: 8, total_tokens: 8 },
    },
    // 8 x 20 + 100,000
    nano: 100_160n,
    lines: [
      ["input_tokens", "8", "0.02", "0.00000016"],
      ["requests", "1", "0.0001", "0.0001"],
    ],
    counts: { input_tokens: 8 },
  },
  {
    name: "a picture by tokens",
    source: "wire/openai-images.md: the answer of section 3, the input details of the stream",
    model: "acme/pictures",
    path: "/v1/images/generations",
    body: { prompt: "A boat", quality: "high", size: "1024x1024" },
    answer: {
      created: 1_713_833_628,
      data: [{ b64_json: picture }],
      output_format: "png",
      quality: "high",
      size: "1024x1024",
      usage: {
        input_tokens: 50,
        output_tokens: 4_160,
        total_tokens: 4_210,
        input_tokens_details: { text_tokens: 10, image_tokens: 40 },
        output_tokens_details: { text_tokens: 0, image_tokens: 4_160 },
      },
    },
    // 10 x 5,000 + 40 x 8,000 + 4,160 x 30,000
    nano: 125_170_000n,
    lines: [
      ["input_tokens", "10", "5", "0.00005"],
      ["input_image_tokens", "40", "8", "0.00032"],
      ["output_image_tokens", "4160", "30", "0.1248"],
    ],
    counts: {
      input_tokens: 50,
      output_tokens: 4_160,
      image_input_tokens: 40,
      image_output_tokens: 4_160,
    },
  },
];

/**
 * Cache writes for an hour in chat: they cost twice Claude's input. Gateways such as LiteLLM report them apart. OpenRouter does not:
 * only the request tells. docs/models.md "Prices".
 */
import { afterEach, expect, it } from "vitest";
import { json, sse } from "../support/recorder.ts";
import { completion, describeGateways, idOf } from "./support.ts";

const offer = (id: string, model: string) => `
  - id: ${id}
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers: [{ provider: relay, protocol: chat, upstream_model: ${model}, price: { input: "3", cache_read: "0.30", cache_write: "3.75", output: "15" } }]`;
const config = (url: string) => `
providers: [{ id: relay, dialect: openai-compatible, base_url: "${url}/v1", api_key: none }]
models:${offer("acme/claude", "anthropic/claude-sonnet-4.5")}${offer("acme/other", "other")}
`;

const usage = (more: object, details: object = {}) => ({
  prompt_tokens: 1_100,
  completion_tokens: 10,
  total_tokens: 1_110,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 1_000, ...details },
  ...more,
});
const part = (text: string, ttl?: string) => ({
  type: "text",
  text,
  cache_control: { type: "ephemeral", ...(ttl !== undefined && { ttl }) },
});
const said = (...content: object[]) => [{ role: "user", content }];
const tool = (ttl: string) => ({
  type: "function",
  function: { name: "f", parameters: { type: "object", properties: {} } },
  cache_control: { type: "ephemeral", ttl },
});

const plain = said({ type: "text", text: "Hi" });
const called = (ttl: string) => {
  const { cache_control } = part("", ttl);
  const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
  return [
    ...plain,
    { role: "assistant", content: null, tool_calls: [{ ...call, cache_control }] },
    { role: "tool", tool_call_id: "c1", content: "x" },
  ];
};

const rest = 100n * 3_000n + 10n * 15_000n;
const fiveMinutes = rest + 1_000n * 3_750n;
const hour = rest + 1_000n * 6_000n;
interface Row {
  readonly model?: string;
  readonly request?: object;
  readonly told?: object;
  readonly costNano: bigint;
}
const split = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 1_000 };
const rows: [name: string, Row][] = [
  ["marked for an hour", { request: { messages: said(part("Hi", "1h")) }, costNano: hour }],
  [
    "with a marker for the whole",
    {
      request: { messages: plain, cache_control: { type: "ephemeral", ttl: "1h" } },
      costNano: hour,
    },
  ],
  ["with marked tools", { request: { messages: plain, tools: [tool("1h")] }, costNano: hour }],
  ["with marked calls", { request: { messages: called("1h") }, costNano: hour }],
  ["marked without a lifetime", { request: { messages: said(part("Hi")) }, costNano: fiveMinutes }],
  [
    "with markers of both kinds",
    { request: { messages: said(part("Hi", "1h"), part("you")) }, costNano: fiveMinutes },
  ],
  [
    "of another model",
    { model: "acme/other", request: { messages: said(part("Hi", "1h")) }, costNano: fiveMinutes },
  ],
  [
    "that LiteLLM reports apart",
    { told: usage({}, { cache_creation_token_details: split }), costNano: hour },
  ],
  [
    "that a gateway reports as Claude does",
    { told: usage({ cache_creation: split }), costNano: hour },
  ],
  [
    "that new-api reports",
    { told: usage({ claude_cache_creation_1_h_tokens: 1_000 }), costNano: hour },
  ],
];

describeGateways("cache writes in chat", { config }, (bench) => {
  afterEach(() => bench().expectClean());

  it.each(rows)("T54: cache writes %s have their rate", async (_name, row) => {
    const { model = "acme/claude", request = { messages: plain }, told = usage({}) } = row;
    for (const stream of [false, true]) {
      bench().up.answer(stream ? sse(streamOf(told)) : json(completion(told, "Hi")));
      const response = await bench().post("/v1/chat/completions", { model, ...request, stream });
      expect({ status: response.status, text: await response.text() }).toMatchObject({
        status: 200,
      });
      expect(await bench().logRow(idOf(response))).toMatchObject({
        cost_nano: row.costNano,
        usage_source: "upstream",
      });
    }
  });
});

const chunk = (more: object) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...more })}\n\n`;
const streamOf = (told: object) =>
  chunk({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] }) +
  chunk({ choices: [], usage: told }) +
  "data: [DONE]\n\n";

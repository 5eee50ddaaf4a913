/**
 * Alibaba bills the whole output of a call at one rate: that of its thinking mode if it reasoned, the plain one otherwise. docs/models.md
 * "Prices".
 */
import { afterEach, expect, it } from "vitest";
import { partsAt, priceOfStored } from "../../src/media/index.ts";
import { sumOfParts } from "../../src/base/price-parts.ts";
import { json, sse } from "../support/recorder.ts";
import { completion, describeGateways, idOf } from "./support.ts";

const model = (provider: string) => `
  - id: acme/${provider}
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers: [{ provider: ${provider}, protocol: chat, upstream_model: qwen-plus,
      price: { input: "0.4", output: "1.2", reasoning: "4" },
      price_above: { input_tokens: 1000, price: { input: "1.2", output: "3.6", reasoning: "12" } } }]`;
const config = (url: string) => `
providers:
  - { id: alibaba, dialect: dashscope, base_url: "${url}/v1", api_key: k }
  - { id: other, dialect: openai-compatible, base_url: "${url}/v1", api_key: k }
models:${model("alibaba")}${model("other")}
`;

const usageOf = (prompt: number, reasoning: number) => ({
  prompt_tokens: prompt,
  completion_tokens: 1_000,
  total_tokens: prompt + 1_000,
  completion_tokens_details: { reasoning_tokens: reasoning },
});

const of = (provider: string, prompt: number, reasoning: number, costNano: bigint) => ({
  provider,
  prompt,
  reasoning,
  costNano,
});

describeGateways("a call in thinking mode", { config }, (bench) => {
  afterEach(() => bench().expectClean());

  it.each<[string, { provider: string; prompt: number; reasoning: number; costNano: bigint }]>([
    ["Alibaba's", of("alibaba", 100, 300, 100n * 400n + 1_000n * 4_000n)],
    ["Alibaba's, of a long call,", of("alibaba", 2_000, 300, 2_000n * 1_200n + 1_000n * 12_000n)],
    ["Alibaba's without reasoning", of("alibaba", 100, 0, 100n * 400n + 1_000n * 1_200n)],
    ["another vendor's", of("other", 100, 300, 100n * 400n + 300n * 4_000n + 700n * 1_200n)],
  ])("BILL-01: %s output has its rates", async (_name, row) => {
    const { provider, prompt, reasoning, costNano } = row;
    const usage = usageOf(prompt, reasoning);
    for (const stream of [false, true]) {
      bench().up.answer(stream ? sse(streamOf(usage)) : json(completion(usage, "Hi")));
      const messages = [{ role: "user", content: "Hi" }];
      const body = { model: `acme/${provider}`, messages, stream };
      const response = await bench().post("/v1/chat/completions", body);
      expect({ status: response.status, text: await response.text() }).toMatchObject({
        status: 200,
      });
      const logged = await bench().logRow(idOf(response));
      expect(logged).toMatchObject({
        cost_nano: costNano,
        usage: { reasoningTokens: reasoning, outputTokens: 1_000 },
      });
      const [stored] = await bench().database.query<{ price: object }>(
        "select price from request_log where id = $1",
        [logged.id],
      );
      const parts = partsAt(priceOfStored(stored!.price), logged.usage!);
      expect(sumOfParts(parts!)).toBe(costNano);
    }
  });

  it.each<[string, string, bigint, number]>([
    ["Alibaba's", "alibaba", 8n * 4_000n, 6],
    ["another vendor's", "other", 6n * 4_000n + 2n * 1_200n, 6],
  ])("T62: %s reasoning is charged if its vendor reports no usage", async (...row) => {
    const [, provider, outputNano, reasoningTokens] = row;
    for (const path of ["/v1/chat/completions", "/v1/messages"]) {
      bench().up.answer(sse(thinking));
      const messages = [{ role: "user", content: "Hi" }];
      const body = { model: `acme/${provider}`, messages, max_tokens: 50, stream: true };
      const response = await bench().post(path, body);
      await response.text();
      const logged = await bench().logRow(idOf(response));
      expect(logged).toMatchObject({
        usage_source: "estimated",
        usage: { reasoningTokens, outputTokens: 8 },
      });
      expect(logged.cost_nano - BigInt(logged.usage!["inputTokens"]!) * 400n).toBe(outputNano);
    }
  });
});

const chunk = (more: object) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...more })}\n\n`;
const streamOf = (usage: object) =>
  chunk({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] }) +
  chunk({ choices: [], usage }) +
  "data: [DONE]\n\n";
const thinking =
  chunk({ choices: [{ index: 0, delta: { reasoning_content: "one two three four five six" } }] }) +
  chunk({ choices: [{ index: 0, delta: { content: " one two" }, finish_reason: "stop" }] }) +
  "data: [DONE]\n\n";

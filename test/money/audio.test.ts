/** Audio and pictures of a text model at separate rates: charged, shown in the model's pricing, and reserved. docs/models.md "Prices". */
import { expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import { priceUsage } from "../../src/catalog/index.ts";
import { decodeUsage, encodeUsage } from "../../src/protocols/generate-content/usage.ts";
import {
  answering,
  chatConfig,
  describeGateways,
  errorOf,
  idOf,
  talk,
  usageOf,
} from "./support.ts";

const price =
  'price: { input: "2", output: "10", audio_input: "40", audio_output: "80", image_output: "30" }';
const config = (url: string) => chatConfig(url, price);

const usage = {
  ...usageOf(1_000, 500),
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 600 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 200, image_tokens: 100 },
};
const nano = 400n * 2_000n + 600n * 40_000n + 200n * 10_000n + 200n * 80_000n + 100n * 30_000n;

describeGateways("audio and pictures of a text model", { config }, (bench) => {
  it.each([false, true])(
    "BILL-01 T55: are charged at their own rates (stream: %s)",
    async (stream) => {
      bench().up.answer(answering(usage));
      const response = await bench().post("/v1/chat/completions", talk({ stream }));
      await response.text();
      expect(await bench().entry(idOf(response))).toMatchObject({ amount_nano: nano });
      expect(await bench().logRow(idOf(response))).toMatchObject({
        cost_nano: nano,
        usage: { audioInputTokens: 600, audioOutputTokens: 200, imageOutputTokens: 100 },
      });
      await bench().expectClean();
    },
  );

  it("MODELS-08: have a row each in the model's pricing", async () => {
    const { data } = (await (await bench().get("/v1/models")).json()) as {
      data: { pricing: { billable: string; price_usd: string }[] }[];
    };
    const rows = data[0]!.pricing.map(({ billable, price_usd: usd }) => [billable, usd]);
    expect(rows).toEqual(
      expect.arrayContaining([
        ["audio_input_tokens", "40"],
        ["audio_cache_read_tokens", "40"],
        ["audio_output_tokens", "80"],
        ["image_output_tokens", "30"],
      ]),
    );
  });

  it("T64: are reserved for: audio input only if the input has media", async () => {
    const boundOf = async (content: unknown): Promise<number> => {
      const messages = [{ role: "user", content }];
      const response = await bench().post(
        "/v1/chat/completions",
        talk({ messages, max_tokens: 32_000, n: 128 }),
      );
      expect(response.status).toBe(402);
      const [, usd] = /may cost up to \$([\d.]+)/.exec((await errorOf(response)).message)!;
      return Number(usd);
    };
    const sound = { type: "input_audio", input_audio: { data: "aGk=", format: "wav" } };
    const [text, spoken] = [await boundOf("Hello"), await boundOf([sound])];
    // All output at its highest rate; 2,000 tokens of audio input.
    expect(text).toBeGreaterThan(128 * 32_000 * 80e-6);
    expect(spoken - text).toBeGreaterThan(2_000 * 40e-6 - 0.01);
  });
});

/** A usage as Google reports and bills it: 200 of text, 300 of audio, and from the cache 200 of text and 300 of audio. */
const cached: Usage = {
  ...noUsage,
  inputTokens: 1_000,
  cacheReadTokens: 500,
  audioInputTokens: 600,
  audioCacheReadTokens: 300,
};
const rates = (cacheRead: string, audioInput?: string) => ({
  input: parseUsd("0.3"),
  output: parseUsd("2.5"),
  cacheRead: parseUsd(cacheRead),
  audioInput: audioInput === undefined ? undefined : parseUsd(audioInput),
});

it.each([
  ["less than audio by the factor of cached text", rates("0.03", "1"), 396_000n],
  ["as much as audio if cached text is no cheaper than text", rates("0.3", "1"), 720_000n],
  ["the cache rate if audio has no rate", rates("0.03"), 165_000n],
])("BILL-01 T53: cached audio costs %s", (_what, price, costNano) => {
  expect(priceUsage(price, cached)).toBe(costNano);
});

it("cached audio is written to the usage of generateContent, and read from it", () => {
  const wire = encodeUsage(cached);
  expect(wire).toMatchObject({
    cacheTokensDetails: [
      { modality: "TEXT", tokenCount: 200 },
      { modality: "AUDIO", tokenCount: 300 },
    ],
  });
  expect(decodeUsage(wire)).toEqual(cached);
});

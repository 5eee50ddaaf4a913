/** Sound and pictures of a text model at rates of their own: charged, shown by the pricing of the model, and set aside. docs/models.md "Prices". */
import { expect, it } from "vitest";
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

describeGateways("sound and pictures", { config }, (bench) => {
  it.each([false, true])(
    "BILL-01 T55: their tokens are charged at their own rates (stream: %s)",
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

  it("MODELS-08: the model's pricing has a row for each", async () => {
    const { data } = (await (await bench().get("/v1/models")).json()) as {
      data: { pricing: { billable: string; price_usd: string }[] }[];
    };
    const rows = data[0]!.pricing.map(({ billable, price_usd: usd }) => [billable, usd]);
    expect(rows).toEqual(
      expect.arrayContaining([
        ["audio_input_tokens", "40"],
        ["audio_output_tokens", "80"],
        ["image_output_tokens", "30"],
      ]),
    );
  });

  it("T64: what a call sets aside takes sound in only where its input has media", async () => {
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
    // All output at the dearest of its rates; 2,000 tokens of sound in.
    expect(text).toBeGreaterThan(128 * 32_000 * 80e-6);
    expect(spoken - text).toBeGreaterThan(2_000 * 40e-6 - 0.01);
  });
});

const gemini = (url: string) => `
providers: [{ id: google, dialect: google, base_url: ${url}/v1beta, api_key: none }]
models:
  - id: acme/hears
    kind: text
    context_length: 2000000
    max_output_tokens: 32000
    offers:
      - { provider: google, protocol: generate_content, upstream_model: g,
          price: { input: "2", cache_read: "0.2", output: "10", audio_input: "40" } }
`;

describeGateways("sound that was read from a cache", { config: gemini }, (bench) => {
  /** A recording of 115,200 tokens in a cache, and a new question beside it. */
  const usageMetadata = {
    promptTokenCount: 116_200,
    cachedContentTokenCount: 115_200,
    candidatesTokenCount: 100,
    totalTokenCount: 116_300,
    promptTokensDetails: [
      { modality: "AUDIO", tokenCount: 115_250 },
      { modality: "TEXT", tokenCount: 950 },
    ],
  };
  const answerOf = (usage: object) => {
    const content = { role: "model", parts: [{ text: "Yes" }] };
    return { candidates: [{ index: 0, content, finishReason: "STOP" }], usageMetadata: usage };
  };
  const nanoOf = (sound: bigint) =>
    115_200n * 200n + sound * 40_000n + (1_000n - sound) * 2_000n + 100n * 10_000n;

  it.each([
    ["generateContent", false],
    ["streamGenerateContent?alt=sse", true],
  ])("T53: costs what the cache does, and is no sound once more (%s)", async (action, stream) => {
    const cacheTokensDetails = [{ modality: "AUDIO", tokenCount: 115_200 }];
    for (const [usage, sound] of [
      [{ ...usageMetadata, cacheTokensDetails }, 50n],
      // Not told: all of the rest may be sound.
      [usageMetadata, 1_000n],
    ] as const) {
      bench().up.answer((_request, response) => {
        const type = stream ? "text/event-stream" : "application/json";
        const text = JSON.stringify(answerOf(usage));
        response.writeHead(200, { "content-type": type });
        response.end(stream ? `data: ${text}\n\n` : text);
      });
      const response = await bench().post(`/v1beta/models/acme/hears:${action}`, {
        contents: [{ role: "user", parts: [{ text: "Is it there?" }] }],
      });
      await response.text();
      const nano = nanoOf(sound);
      expect(await bench().entry(idOf(response))).toMatchObject({ amount_nano: nano });
    }
    await bench().expectClean();
  });
});

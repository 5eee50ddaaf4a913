/**
 * Alibaba bills reads of a cache by markers lower than reads of its own cache, and marks them in the answer. docs/models.md "Prices".
 */
import { expect, it } from "vitest";
import { answering, chatConfig, describeGateways, idOf, talk, usageOf } from "./support.ts";

const price =
  'price: { input: "1", cache_read: "0.2", explicit_cache_read: "0.1", cache_write: "1.25", output: "2" }';
const config = (url: string) => chatConfig(url, price);

describeGateways("reads of the two caches of Alibaba", { config }, (bench) => {
  it.each<[string, object, bigint]>([
    ["its own, without a type", { cached_tokens: 600 }, 200n],
    ["one by markers", { cached_tokens: 600, cache_type: "ephemeral" }, 100n],
    ["its own, if the type is null", { cached_tokens: 600, cache_type: null }, 200n],
    ["its own, if the type is unknown", { cached_tokens: 600, cache_type: ["ephemeral"] }, 200n],
  ])("BILL-01 T53: of %s have its rate, whole and streamed", async (_name, details, rate) => {
    const nano = 400n * 1_000n + 600n * rate + 10n * 2_000n;
    bench().up.answer(answering({ ...usageOf(1_000, 10), prompt_tokens_details: details }));
    for (const stream of [false, true]) {
      const response = await bench().post("/v1/chat/completions", talk({ stream }));
      await response.text();
      const row = await bench().logRow(idOf(response));
      expect(row).toMatchObject({ cost_nano: nano, usage: { cacheReadTokens: 600 } });
      expect(row.usage?.["explicitCache"]).toBe(rate === 100n ? 1 : undefined);
      expect(await bench().entry(idOf(response))).toMatchObject({ amount_nano: nano });
    }
    await bench().expectClean();
  });

  it("BILL-01: a call that only writes to a cache by markers has no reads", async () => {
    const details = { cached_tokens: 0, cache_creation_input_tokens: 500, cache_type: "ephemeral" };
    bench().up.answer(answering({ ...usageOf(1_000, 10), prompt_tokens_details: details }));
    const response = await bench().post("/v1/chat/completions", talk());
    await response.text();
    const row = await bench().logRow(idOf(response));
    expect(row.cost_nano).toBe(500n * 1_000n + 500n * 1_250n + 10n * 2_000n);
    expect(row.usage).not.toHaveProperty("explicitCache");
  });

  it("MODELS-08: have a row each in the model's pricing", async () => {
    const { data } = (await (await bench().get("/v1/models")).json()) as {
      data: { pricing: { billable: string; price_usd: string; when?: object }[] }[];
    };
    const rows = data[0]!.pricing.filter(({ billable }) => billable === "cache_read_tokens");
    expect(rows.map(({ price_usd: usd, when }) => [usd, when])).toEqual([
      ["0.2", undefined],
      ["0.1", { cache_type: "ephemeral" }],
    ]);
  });
});

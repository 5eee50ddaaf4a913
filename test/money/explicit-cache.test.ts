/**
 * Alibaba bills reads of a cache by markers lower than reads of its own cache, and marks them in the answer. docs/models.md "Prices".
 */
import { expect, it } from "vitest";
import { json } from "../support/recorder.ts";
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

const responses = (url: string) => config(url).replace("protocol: chat", "protocol: responses");

describeGateways("the session cache of Alibaba's responses", { config: responses }, (bench) => {
  /** Alibaba's own example: what the cache wrote is in `x_details` alone. */
  const counts = { input_tokens: 1_524, output_tokens: 34, total_tokens: 1_558 };
  const read = { input_tokens_details: { cached_tokens: 1_305 } };
  const told = { cached_tokens: 1_305, cache_creation_input_tokens: 213, cache_type: "ephemeral" };
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Hello", annotations: [] }],
  };
  const answer = (usage: object) =>
    json({ id: "resp_1", object: "response", status: "completed", output: [message], usage });

  it.each([
    ["/v1/responses", { model: "acme/talk", input: "Hello" }],
    ["/v1/chat/completions", talk()],
  ])("BILL-01 T53: its reads and writes have their rates, by %s", async (path, body) => {
    const usage = { ...counts, ...read, x_details: [{ prompt_tokens_details: told }] };
    bench().up.answer(answer(usage));
    const response = await bench().post(path, body);
    await response.text();
    const row = await bench().logRow(idOf(response));
    expect(row.usage).toMatchObject({ cacheReadTokens: 1_305, cacheWriteTokens: 213 });
    expect(row.cost_nano).toBe(6n * 1_000n + 1_305n * 100n + 213n * 1_250n + 34n * 2_000n);
  });

  it("T51: counts that cannot be true, and details of another form, change nothing else", async () => {
    const costOf = async (details: unknown) => {
      bench().up.answer(answer({ ...counts, ...read, x_details: details }));
      const response = await bench().post("/v1/responses", { model: "acme/talk", input: "Hello" });
      await response.text();
      return (await bench().logRow(idOf(response))).cost_nano;
    };
    const own = 219n * 1_000n + 1_305n * 200n + 34n * 2_000n;
    for (const details of [undefined, "x", [7, { prompt_tokens_details: null }]])
      expect(await costOf(details)).toBe(own);
    const beyond = { cache_creation_input_tokens: 1_000_000 };
    expect(await costOf([{ prompt_tokens_details: beyond }])).toBe(own + 219n * (1_250n - 1_000n));
  });
});

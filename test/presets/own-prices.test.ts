/** `prices` of the configuration file: models without a listed price, and prices other than the list's. docs/models.md. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { noUsage } from "../../src/base/usage.ts";
import {
  checkConfig,
  environmentCatalog,
  priceUsage,
  withOwnPrices,
  type TextModel,
} from "../../src/catalog/index.ts";
import { silentLog } from "../../src/base/log.ts";
import { mediaModelRows } from "../../src/catalog/media-models.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";

const prices = `
prices:
  openai/gpt-image-2: { input: "5", image_input: "8", output: "10", image_output: "30" }
  openai/gpt-4o-mini: { input: "1000", output: "2000" }
  openai/text-embedding-3-small: { input: "500" }
  openai/gpt-5.4: { input: "2", output: "12" }
  openai/gpt-none: { input: "2", output: "12" }
`;

describe("a gateway with its own prices", () => {
  let upstream: Sandbox;
  let gateway: GatewayUnderTest;
  const warned: object[] = [];
  beforeAll(async () => {
    upstream = await startSandbox({ host: "127.0.0.1", port: 0 });
    gateway = await startTestGateway({
      sandbox: "off",
      config: prices,
      log: { ...silentLog, warn: (fields) => void warned.push(fields) },
      environment: {
        OPENAI_API_KEY: "sandbox",
        OPENAI_BASE_URL: `${upstream.url}/openai/v1`,
        DASHSCOPE_API_KEY: "sandbox",
      },
    });
    await gateway.credit("10");
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const charged = async () => (await gateway.ledger.balance(gateway.workspaceId)).chargedNano;
  const costOf = async (path: string, body: object) => {
    const before = await charged();
    const response = await gateway.post(path, body);
    expect([response.status, await response.clone().text()]).toEqual([200, expect.anything()]);
    const cost = await eventually(async () => {
      const more = (await charged()) - before;
      return more > 0n ? more : undefined;
    }, "a charge");
    return { answer: (await response.json()) as { usage: Record<string, unknown> }, cost };
  };

  it("T64: logs prices that fit no model, and prices without a tier for long calls", () => {
    expect(warned).toContainEqual({ models: ["openai/gpt-none"] });
    expect(warned).toContainEqual({ models: ["openai/gpt-5.4"] });
  });

  it("logs prices that charge cached tokens at the input rate", () => {
    expect(warned).toContainEqual({ models: ["openai/gpt-4o-mini", "openai/gpt-5.4"] });
  });

  it("answers 404 for a model without a price, and names the setting", async () => {
    const task = { model: "alibaba/wan2.7-t2v", prompt: "A lighthouse" };
    const response = await gateway.post("/v1/tasks", task);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: {
        code: "model_not_found",
        param: "model",
        message: expect.stringContaining('prices: { "alibaba/wan2.7-t2v": ... }'),
      },
    });
    const { data } = (await (await gateway.get("/v1/models")).json()) as { data: { id: string }[] };
    const ids = data.map(({ id }) => id);
    expect(ids).toContain("openai/gpt-image-2");
    expect(ids).not.toContain("openai/gpt-image-1");
    expect(ids.filter((id) => id.includes("wan2"))).toEqual([]);
  });

  it("serves an image model that has its own price, at exactly that price", async () => {
    const { answer, cost } = await costOf("/v1/images/generations", {
      model: "openai/gpt-image-2",
      prompt: "A lighthouse",
    });
    const { input_tokens: input, output_tokens: output } = answer.usage as Record<string, number>;
    // 5,000 nano-USD for a text token, 30,000 for an image token.
    expect(cost).toBe(BigInt(input!) * 5_000n + BigInt(output!) * 30_000n);
  });

  it("prefers its own price to the list's, for text and for embeddings", async () => {
    const text = await costOf("/v1/chat/completions", {
      model: "openai/gpt-4o-mini",
      max_tokens: 20,
      messages: [{ role: "user", content: "Hello!" }],
    });
    const { prompt_tokens: input, completion_tokens: output } = text.answer.usage as Record<
      string,
      number
    >;
    expect(text.cost).toBe(BigInt(input!) * 1_000_000n + BigInt(output!) * 2_000_000n);
    const vectors = await costOf("/v1/embeddings", {
      model: "openai/text-embedding-3-small",
      input: "Hello!",
    });
    const { total_tokens: tokens } = vectors.answer.usage as Record<string, number>;
    expect(vectors.cost).toBe(BigInt(tokens!) * 500_000n);
  });
});

describe("mistakes in `prices`", () => {
  const mistakesOf = (text: string) => {
    const result = checkConfig(text, { environment: {} });
    return "mistakes" in result
      ? result.mistakes.map(({ line, path, message }) => `${line} ${path} ${message}`)
      : [];
  };

  it.each([
    [
      '  openai/gpt-image-2: { input: "5", output: "30" }',
      /^2 prices\.openai\/gpt-image-2\.image_input missing/,
    ],
    ['  openai/gpt-4o: { input: "5", output: "-1" }', /^2 .*output "-1" does not fit/],
    ['  openai/gpt-4o: { input: "5", output: 1 }', /^2 .*output must be text, not 1/],
    ['  xai/grok-imagine-video: { output_image: "1" }', /^2 .*output_second missing/],
    [
      '  xai/grok-imagine-video: { output_second: {}, input_image: "0" }',
      /^2 .*output_second no resolution has a price/,
    ],
    [
      '  xai/grok-imagine-video: { output_second: { 480p: 0.05 }, input_image: "0" }',
      /^2 .*output_second\.480p must be text, not 0\.05/,
    ],
    [
      '  xai/grok-imagine-video: { output_second: { 480p: { sound: "1" } }, input_image: "0" }',
      /^2 .*output_second\.480p a mapping does not fit/,
    ],
    [
      '  alibaba/wan2.7-t2v: { output_second: { 720p: { sound: "2", silent: "1" } }, input_image: "0" }',
      /^2 .*output_second\.720p must be text, not a mapping/,
    ],
    ["  openai/gpt-4o: free", /^2 /],
    [
      '  openai/gpt-4o: { input: "5", output: "5", price_above: { input_tokens: 9 } }',
      /^2 .*price_above\.price missing/,
    ],
    [
      '  openai/gpt-4o: { input: "5", output: "5", price_tiers: [{ input_tokens: 9, price: &p { input: "6", output: "6" } }, { input_tokens: 9, price: *p }] }',
      /^2 .*price_tiers\[1\]\.input_tokens 9 does not come after 9/,
    ],
  ])("are refused with their line: %s", (line, said) => {
    const [first] = mistakesOf(`prices:\n${line}\n`);
    expect(first).toMatch(said);
  });

  it("include a model of the file, whose price belongs to the model", () => {
    const text = [
      "providers: [{ id: p, dialect: openai, base_url: http://p/v1, api_key: none }]",
      'models: [{ id: a/b, kind: embedding, context_length: 9, offers: [{ provider: p, upstream_model: m, price: { input: "1" } }] }]',
      'prices: { a/b: { input: "2" } }',
    ].join("\n");
    expect(mistakesOf(text)).toEqual(["3 prices.a/b is a model of this file"]);
  });

  it("a listed model without a price gets the own one, and is no longer without", () => {
    const id = "kilo/openrouter/pareto-code";
    const listed = environmentCatalog({ KILO_API_KEY: "k" });
    expect(listed.unpriced?.has(id)).toBe(true);
    const priced = withOwnPrices(listed, { [id]: { input: "1", output: "2" } });
    expect(priced).toMatchObject({ unused: [], flat: [], uncached: [] });
    expect(priced.catalog.unpriced?.has(id)).toBe(false);
    expect(priced.catalog.models.get(id)).toMatchObject({
      kind: "text",
      offers: [{ provider: "kilo", price: { input: 1_000_000_000n, output: 2_000_000_000n } }],
    });
  });

  it("an embedding model's price replaces the list's, and may have an amount per call", () => {
    const id = "openai/text-embedding-3-small";
    const listed = environmentCatalog({ OPENAI_API_KEY: "k" });
    const priceAt = (price: { input: string; request?: string }) => {
      const { catalog, unused } = withOwnPrices(listed, { [id]: price });
      const model = catalog.models.get(id);
      return [unused, model?.kind === "embedding" && model.offers[0]?.price];
    };
    const input = 5_000_000_000n;
    expect(priceAt({ input: "5" })).toEqual([[], { input, output: 0n }]);
    expect(priceAt({ input: "5", request: "1" })).toEqual([
      [],
      { input, output: 0n, request: 1_000_000_000n },
    ]);
  });

  it("unused prices are returned, and change no model", () => {
    const catalog = environmentCatalog({ OPENAI_API_KEY: "k" });
    const given = {
      "openai/gpt-4o": { input: "5" },
      "openai/gpt-none": { input: "5", output: "5" },
      "xai/grok-imagine-video": { output_second: { "720p": "1" }, input_image: "0" },
      "openai/text-embedding-3-small": { input: "5", output: "5" },
    };
    const priced = withOwnPrices(catalog, given);
    expect(priced.unused).toEqual(Object.keys(given));
    expect(priced.catalog.models).toEqual(catalog.models);
  });
});

describe("the own price of long calls", () => {
  const id = "openai/gpt-5.4";
  const listed = environmentCatalog({ OPENAI_API_KEY: "k" });
  const rates = { input: "2", output: "12" };
  const costOf = (own: object, inputTokens: number): bigint => {
    const model = withOwnPrices(listed, { [id]: { ...own } }).catalog.models.get(id);
    return priceUsage((model as TextModel).offers[0]!.price, { ...noUsage, inputTokens });
  };

  it("T64: replaces the list's tiers, and the model is reported if it has no tier of its own", () => {
    expect(costOf(rates, 300_000)).toBe(300_000n * 2_000n);
    expect(withOwnPrices(listed, { [id]: rates, "openai/gpt-4o": rates })).toMatchObject({
      flat: [id],
      unused: [],
    });
  });

  it("T64: applies its own tiers to the whole of a call above their limit", () => {
    const price_above = { input_tokens: 272_000, price: { input: "4", output: "18" } };
    const own = { ...rates, price_above };
    expect(costOf(own, 272_000)).toBe(272_000n * 2_000n);
    expect(costOf(own, 272_001)).toBe(272_001n * 4_000n);
    expect(withOwnPrices(listed, { [id]: own }).flat).toEqual([]);
  });

  it("needs a cached rate in each tier; a cached rate as high as input counts as given", () => {
    const tier = { input_tokens: 272_000, price: { input: "4", output: "18" } };
    const uncached = (own: object) => withOwnPrices(listed, { [id]: { ...own } }).uncached;
    const cached = { ...rates, cache_read: "2" };
    expect(uncached({ ...cached, price_above: tier })).toEqual([id]);
    const whole = { ...tier, price: { ...tier.price, cache_read: "0.4" } };
    expect(uncached({ ...cached, price_above: whole })).toEqual([]);
    const hours = (price: object) => ({
      ...cached,
      price_hours: [{ hours_utc: ["01:00-02:00"], price }],
    });
    expect(uncached(hours(tier.price))).toEqual([id]);
    expect(uncached(hours(whole.price))).toEqual([]);
    // The list has one rate for all input of this model.
    expect(withOwnPrices(listed, { "openai/gpt-4-turbo": rates }).uncached).toEqual([]);
  });
});

it("each image and video model of a vendor accepts a price of its family", () => {
  const shapes: Readonly<Record<string, object>> = {
    "image-a": { input: "1", image_input: "1", output: "1", image_output: "1" },
    "task-image-2": { input: "1", image_input: "1", output: "1", image_output: "1" },
    "task-image-1": {
      output_image: { low: { "1K": "1", "2K": "1" }, medium: { "1K": "1", "2K": "1" } },
      input_image: "1",
    },
    "image-c": { output_image: "1" },
    "video-v1": { output_second: { "480p": "1" }, input_image: "1" },
    "video-v1.5": { output_second: { "480p": "1" }, input_image: "1" },
    "video-seconds": { output_second: { "720p": "1" }, input_image: "1" },
  };
  const keys = { OPENAI_API_KEY: "k", XAI_API_KEY: "k", DASHSCOPE_API_KEY: "k" };
  const given = Object.fromEntries(mediaModelRows.map(({ id, family }) => [id, shapes[family]!]));
  const { catalog, unused } = withOwnPrices(environmentCatalog(keys), given as never);
  expect(unused).toEqual([]);
  expect(Object.keys(given)).toContain("openai/gpt-image-2.6-flare");
  expect(Object.keys(given)).toContain("alibaba/wan3.0-video");
  for (const { id, family, vendor, model } of mediaModelRows) {
    expect(catalog.models.get(id)).toMatchObject({
      family,
      offers: [{ provider: vendor, upstreamModel: model }],
    });
    expect(catalog.unpriced?.has(id)).toBe(false);
  }
});

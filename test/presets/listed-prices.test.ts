/** Prices of the shipped list that are not those of the public one, because vendors bill something else. docs/models.md. */
import { describe, expect, it } from "vitest";
import { formatUsd } from "../../src/base/money.ts";
import { buildAdded } from "../../src/catalog/added.ts";
import {
  environmentCatalog,
  readPublicList,
  shippedList,
  vendorRows,
  type TextModel,
} from "../../src/catalog/index.ts";
import { every } from "./support.ts";

describe("the price of a listed model", () => {
  it("charges cache writes of Gemini as input and storage if a list has the storage alone (T53)", () => {
    const catalog = environmentCatalog(every("key"));
    const writesOf = (id: string) => {
      const { price } = (catalog.models.get(id) as TextModel).offers[0]!;
      return [price, ...(price.above ?? []).map(({ rates }) => rates)].map(({ cacheWrite }) =>
        cacheWrite === undefined ? undefined : formatUsd(cacheWrite),
      );
    };
    expect(writesOf("openrouter/google/gemini-2.5-pro")).toEqual(["1.625", "2.875"]);
    // The tier has no rate for writes.
    expect(writesOf("openrouter/google/gemini-3.1-pro-preview")).toEqual(["2.375", "4.375"]);
    expect(writesOf("venice/gemini-3-1-pro-preview")).toEqual(["3", "5.5"]);
    // These lists have both in one.
    expect(writesOf("requesty/google/gemini-2.5-flash")).toEqual(["0.55"]);
    expect(writesOf("helicone/gemini-2.5-pro")).toEqual(["1.25"]);
    // MiniMax charges less for writes of this model than for its input.
    expect(writesOf("minimax/MiniMax-M2.7-highspeed")).toEqual(["0.375"]);
  });

  const inputsOf = (id: string) => {
    const { price } = (environmentCatalog(every("key")).models.get(id) as TextModel).offers[0]!;
    const tiers = (price.above ?? []).map(
      (tier) => `${tier.inputTokens}: ${formatUsd(tier.rates.input)}`,
    );
    return [formatUsd(price.input), ...tiers].join(", ");
  };

  it("T64: has the tiers for long calls at OpenRouter that the models' own vendors have, where its list has none", () => {
    expect(inputsOf("openrouter/openai/gpt-5.5")).toBe("5, 272000: 10");
    expect(inputsOf("openrouter/openai/gpt-5.4-pro")).toBe("30, 272000: 60");
    expect(inputsOf("openrouter/google/gemini-2.5-pro")).toBe("1.25, 200000: 2.5");
    expect(inputsOf("openrouter/x-ai/grok-4.3")).toBe("1.25, 200000: 2.5");
    expect(inputsOf("openrouter/openai/gpt-5.4-mini")).toBe("0.75");
  });

  it("T64: is one price for long calls too of Claude since 4.6, as Anthropic says, also where a list has tiers", () => {
    expect(inputsOf("openrouter/anthropic/claude-opus-4.7")).toBe("5");
    // At the location "key", which is a region.
    expect(inputsOf("google-vertex/claude-opus-4-8@default")).toBe("5.5");
    expect(inputsOf("openrouter/anthropic/claude-sonnet-4.5")).toBe("3, 200000: 6");
  });

  it("T64: has no tier of another vendor whose price is another one", () => {
    const cost = (
      input: number,
      more = "",
    ) => `"limit": { "context": 9 }, "cost": { "input": ${input}, "output": 9 ${more} },
      "modalities": { "input": ["text"], "output": ["text"] }`;
    const tiers = `, "tiers": [{ "input": 4, "output": 9, "tier": { "size": 5 } }]`;
    const read = (input: number) =>
      readPublicList(
        `{ "openai": { "models": { "gpt-x": { ${cost(2, tiers)} } } },
          "openrouter": { "models": { "openai/gpt-x": { ${cost(input)} }, "openai/gpt-y": { ${cost(2)} } } } }`,
        vendorRows(),
      );
    const priceAt = (input: number) => {
      const result = read(input);
      const models = "mistakes" in result ? [] : result.models;
      return models
        .filter(({ vendor }) => vendor === "openrouter")
        .map(({ price }) => price?.above?.[0]?.input);
    };
    expect(priceAt(2)).toEqual(["4", undefined]);
    expect(priceAt(3)).toEqual([undefined, undefined]);
  });

  it("charges what Perplexity bills for each call, whose amount callers cannot raise", () => {
    const { models } = environmentCatalog({ PERPLEXITY_API_KEY: "k" });
    const fees = [...models.values()].map((model) => {
      const { offers, parameters } = model as TextModel;
      const { request = 0n, input } = offers[0]!.price;
      return [model.id, formatUsd(input), formatUsd(request), parameters["web_search_options"]];
    });
    expect(fees).toEqual([
      ["perplexity/sonar", "1", "0.005", false],
      ["perplexity/sonar-pro", "3", "0.006", false],
      ["perplexity/sonar-reasoning-pro", "2", "0.006", false],
    ]);
  });

  it("has the fees of Perplexity's models at OpenRouter too", () => {
    const { models } = environmentCatalog({ OPENROUTER_API_KEY: "k" });
    const feeOf = (name: string) => {
      const { offers, parameters } = models.get(`openrouter/${name}`) as TextModel;
      return [formatUsd(offers[0]!.price.request ?? 0n), parameters["web_search_options"]];
    };
    expect(feeOf("perplexity/sonar")).toEqual(["0.005", false]);
    expect(feeOf("perplexity/sonar-pro")).toEqual(["0.006", false]);
    expect(feeOf("perplexity/sonar-reasoning-pro")).toEqual(["0.006", false]);
    expect(feeOf("perplexity/sonar-pro-search")).toEqual(["0.018", false]);
    expect(feeOf("openai/gpt-5.4")[0]).toBe("0");
  });

  it("is none if the list has 0 for a model that its vendor bills", () => {
    const { models, unpriced } = environmentCatalog(every("key"));
    for (const id of [
      "kilo/openrouter/pareto-code",
      "kilo/openrouter/bodybuilder",
      "llmgateway/auto",
      "llmgateway/custom",
      "nano-gpt/auto-model",
      "orcarouter/auto",
      "vercel/meta/llama-3.3-70b",
      "cortecs/gpt-oss-120b",
      "nano-gpt/qwen3.5-omni-plus",
      "poe/google/gemma-4-31b",
    ])
      expect([id, models.has(id), unpriced?.has(id)]).toEqual([id, false, true]);
    expect(models.has("kilo/kilo-auto/free")).toBe(true);
    const listAt = (price: number) =>
      readPublicList(
        `{ "llmgateway": { "models": { "auto": { "limit": { "context": 9 }, "cost": { "input": ${price}, "output": ${price} },
          "modalities": { "input": ["text"], "output": ["text"] } } } } }`,
        vendorRows(),
      );
    expect(listAt(0)).toMatchObject({ models: [{ model: "auto" }] });
    expect(listAt(0)).not.toHaveProperty("models.0.price");
    expect(listAt(2)).toHaveProperty("models.0.price", { input: "2", output: "2" });
  });

  it("is a tenth above that of Claude worldwide in a region of Bedrock", () => {
    const { models } = environmentCatalog(every("key"));
    const ratesOf = (name: string) => {
      const { price } = (models.get(`amazon-bedrock/${name}`) as TextModel).offers[0]!;
      const { input, output, cacheRead = 0n, cacheWrite = 0n } = price;
      return [input, output, cacheRead, cacheWrite].map(formatUsd).join(" ");
    };
    expect(ratesOf("global.anthropic.claude-sonnet-4-6")).toBe("3 15 0.3 3.75");
    for (const region of ["", "us.", "eu.", "jp.", "au."])
      expect([region, ratesOf(`${region}anthropic.claude-sonnet-4-6`)]).toEqual([
        region,
        "3.3 16.5 0.33 4.125",
      ]);
    expect(ratesOf("au.anthropic.claude-opus-4-6-v1")).toBe("5.5 27.5 0.55 6.875");
    // Older models have no price for the world.
    expect(ratesOf("us.anthropic.claude-opus-4-1-20250805-v1-0")).toBe("15 75 1.5 18.75");
  });

  it("is a tenth above the listed one for new models at Vertex AI outside the global location", () => {
    const inputsAt = (place: string) => {
      const { models } = environmentCatalog({
        GOOGLE_GENAI_USE_VERTEXAI: "true",
        GOOGLE_CLOUD_PROJECT: "p",
        GOOGLE_CLOUD_LOCATION: place,
      });
      const names = ["claude-sonnet-4-6@default", "claude-opus-4-1@20250805", "gemini-3.5-flash"];
      return [...names, "gemini-2.5-pro"].map((name) => {
        const { input, above = [] } = (models.get(`google-vertex/${name}`) as TextModel).offers[0]!
          .price;
        return [input, ...above.map(({ rates }) => rates.input)].map(formatUsd).join(" ");
      });
    };
    expect(inputsAt("global")).toEqual(["3", "15", "1.5", "1.25 2.5"]);
    for (const place of ["us-east5", "eu"])
      expect(inputsAt(place)).toEqual(["3.3", "15", "1.65", "1.25 2.5"]);
    const added = buildAdded(
      {
        id: "vertex-2",
        settings: {
          vendor: "google-vertex",
          base_url: "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5",
        },
        credentials: [{ id: "default", apiKey: "k", weight: 1 }],
      },
      { list: shippedList, allowPrivate: false },
    ).models.find(({ id }) => id === "vertex-2/gemini-3.5-flash") as TextModel;
    expect(formatUsd(added.offers[0]!.price.input)).toBe("1.65");
  });
});

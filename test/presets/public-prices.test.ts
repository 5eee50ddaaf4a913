/** Prices of the public list: their limits, tiers in any order, models without a price, and regions. docs/models.md. */
import { describe, expect, it } from "vitest";
import { pricedAt, withRegionalPrices } from "../../src/catalog/list/regional-price.ts";
import { listedModel } from "../../src/catalog/list/models.ts";
import { readPublicList } from "../../src/catalog/list/public-list.ts";
import type { ListedModel, VendorRow } from "../../src/catalog/list/types.ts";
import { listDiff, vendorRows, type TextModel } from "../../src/catalog/index.ts";

const rows = vendorRows();
const rowOf = (vendor: string): VendorRow => rows.find(({ id }) => id === vendor)!;

/** A list of one model of Groq; members are JSON. */
const read = (members: string) =>
  readPublicList(
    `{ "groq": { "models": { "m": { "limit": { "context": 9 }, ${members} } } } }`,
    rows,
  );
const texts = `"modalities": { "input": ["text"], "output": ["text"] }`;
const priceOf = (cost: string) => {
  const result = read(`${texts}, "cost": ${cost}`);
  return "models" in result
    ? result.models[0]?.price
    : result.mistakes.map(({ message }) => message);
};

describe("a price of the public list", () => {
  it("may be the least and the most that is plausible", () => {
    expect(priceOf(`{ "input": 0.0001, "output": 10000 }`)).toEqual({
      input: "0.0001",
      output: "10000",
    });
  });

  it.each(["1e100", "1e-100"])("is refused if its exponent has three digits: %s", (amount) => {
    expect(priceOf(`{ "input": ${amount}, "output": 1 }`)).toEqual([
      `${amount} USD for a million tokens is absurd (the most is 10000)`,
    ]);
  });

  it("T64: has its tiers by rising size, in whatever order the list has them", () => {
    const tier = (size: number, input: number) =>
      `{ "tier": { "size": ${size} }, "input": ${input}, "output": 9 }`;
    expect(
      priceOf(`{ "input": 1, "output": 9, "tiers": [${tier(200, 3)}, ${tier(100, 2)}] }`),
    ).toMatchObject({
      above: [
        { tokens: 100, input: "2" },
        { tokens: 200, input: "3" },
      ],
    });
  });

  it.each([
    [`{ "type": "context", "size": "200" }`],
    [`{ "type": "context", "size": 0 }`],
    [`{ "type": "context", "size": 1.5 }`],
    [`{ "type": "context" }`],
    [`{ "type": "hour", "size": 200 }`],
  ])("T64: is refused if a tier's size is no number of tokens: %s", (tier) => {
    expect(
      priceOf(
        `{ "input": 1, "output": 9, "tiers": [{ "tier": ${tier}, "input": 2, "output": 9 }] }`,
      ),
    ).toEqual(["must name a size of context in tokens"]);
  });

  it("is refused if its tiers are no list", () => {
    expect(priceOf(`{ "input": 1, "output": 9, "tiers": { "size": 200 } }`)).toEqual([
      "must be a list of prices by size of context",
    ]);
  });

  it("may be absent: then the model has none, and the list is read", () => {
    expect(read(texts)).toMatchObject({ models: [{ model: "m" }] });
    expect(read(texts)).not.toHaveProperty("models.0.price");
  });

  it("with a rate for sound that is not charged takes sound from the model's input", () => {
    const heard = `"modalities": { "input": ["text", "audio", "image"], "output": ["text"] }`;
    const inputsAt = (cost: string) => read(`${heard}, "cost": ${cost}`);
    expect(inputsAt(`{ "input": 1, "output": 1 }`)).toHaveProperty("models.0.in", [
      "audio",
      "image",
    ]);
    expect(inputsAt(`{ "input": 1, "output": 1, "input_audio": 3 }`)).toHaveProperty(
      "models.0.in",
      ["image"],
    );
  });
});

describe("a price in a region", () => {
  const model = (name: string, price?: ListedModel["price"]): ListedModel => ({
    vendor: "amazon-bedrock",
    model: name,
    context: 9,
    ...(price && { price }),
  });
  const tiered = {
    input: "3",
    output: "15",
    above: [{ tokens: 200_000, input: "6", output: "22.5" }],
  };
  const raised = {
    input: "3.3",
    output: "16.5",
    above: [{ tokens: 200_000, input: "6.6", output: "24.75" }],
  };

  it("is a tenth above that worldwide in an updated list of Bedrock, and so are its tiers", () => {
    const [global, eu, here, old, other] = [
      model("global.anthropic.claude-x", tiered),
      model("eu.anthropic.claude-x", tiered),
      model("anthropic.claude-x"),
      model("eu.anthropic.claude-old", tiered),
      model("amazon.nova", tiered),
    ] as const;
    expect(withRegionalPrices(rowOf("amazon-bedrock"), [global, eu, here, old, other])).toEqual([
      global,
      { ...eu, price: raised },
      { ...here, price: raised },
      old,
      other,
    ]);
  });

  it("is the listed one at vendors without a price for regions", () => {
    const models = [model("global.anthropic.claude-x", tiered), model("anthropic.claude-x")];
    expect(withRegionalPrices(rowOf("groq"), models)).toBe(models);
    const address = "https://x.example/v1/projects/p/locations/us-east5";
    expect(pricedAt(rowOf("groq"), model("claude-sonnet-4-6", tiered), address).price).toBe(tiered);
  });

  it("is a tenth above the listed one at Vertex AI, and tiers keep their sizes", () => {
    const address = "https://x.example/v1/projects/p/locations/us-east5";
    const row = rowOf("google-vertex");
    expect(pricedAt(row, model("claude-sonnet-4-6", tiered), address).price).toEqual(raised);
    const unpriced = model("claude-sonnet-4-6");
    expect(pricedAt(row, unpriced, address)).toBe(unpriced);
  });
});

it("a model at an address of its own is taken by the vendor's row for that address", () => {
  const withAddress = (provider: string) =>
    `"x": { "limit": { "context": 9 }, "cost": { "input": 1, "output": 1 }, ${texts}${provider} }`;
  const taken = (provider: string) => {
    const text = `{ "amazon-bedrock": { "models": { ${withAddress(provider)} } } }`;
    const result = readPublicList(text, [rowOf("amazon-bedrock"), rowOf("amazon-bedrock-mantle")]);
    return "models" in result ? result.models.map(({ vendor }) => vendor) : result.mistakes;
  };
  expect(taken("")).toEqual(["amazon-bedrock"]);
  expect(taken(`, "provider": { "api": "https://x.example/openai/v1" }`)).toEqual([
    "amazon-bedrock-mantle",
  ]);
});

it("a listed model with a budget of reasoning alone reasons if its vendor has a field for the budget", () => {
  const budget = [{ type: "budget_tokens", min: 1, max: 9 }] as const;
  const listed = { vendor: "v", model: "m", context: 9, price: { input: "1", output: "1" } };
  const reasoningAt = (field?: VendorRow["reasoning_field"]) => {
    const row = { ...rowOf("groq"), id: "v", ...(field && { reasoning_field: field }) };
    return (listedModel({ ...listed, reasoning: budget }, row) as TextModel).reasoning;
  };
  expect(reasoningAt("enable_thinking")).toMatchObject({ kind: "budget", min: 1, max: 9 });
  expect([reasoningAt(), reasoningAt("thinking")]).toEqual([undefined, undefined]);
});

it("options of reasoning that are no list, or of an unknown kind, leave open how the model reasons", () => {
  const reasoningAt = (options: string) => {
    const priced = `${texts}, "cost": { "input": 1, "output": 1 }, "reasoning": true`;
    const result = read(`${priced}, "reasoning_options": ${options}`);
    return "models" in result ? result.models[0]?.reasoning : result.mistakes;
  };
  expect(["{}", "[]", `["high"]`, `[{ "type": "mood" }]`].map(reasoningAt)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(reasoningAt(`[{ "type": "mood" }, { "type": "toggle" }]`)).toEqual([{ type: "toggle" }]);
});

it("a model whose price stays, and whose limits change, is neither cheaper nor dearer in an updated list", () => {
  const model = { vendor: "groq", model: "m", context: 9, price: { input: "1", output: "1" } };
  expect(listDiff([model], [{ ...model, context: 10 }], rows)).toMatchObject({
    changed: ["groq/m"],
    cheaper: [],
    dearer: [],
  });
});

it("T64: the amount that a vendor bills for each call is charged at any length, and for embeddings too", () => {
  const row: VendorRow = { ...rowOf("groq"), id: "v", request_fees: { "^m$": "0.005" } };
  const rates = { input: "1", output: "1" };
  const listed = { vendor: "v", model: "m", context: 9 };
  const priceAt = (of: ListedModel) => listedModel(of, row)?.offers[0]?.price;
  const request = 5_000_000n;
  const tiered = { ...rates, above: [{ tokens: 5, ...rates }] };
  expect(priceAt({ ...listed, price: tiered })).toMatchObject({
    request,
    above: [{ inputTokens: 5, rates: { request } }],
  });
  expect(priceAt({ ...listed, kind: "embedding", price: rates })).toMatchObject({ request });
  expect(priceAt({ ...listed, model: "n", price: tiered })).not.toHaveProperty("request");
});

/** The price of offers at Alibaba, which bills the whole output of a call that reasoned at one rate. docs/models.md "Prices". */
import { expect, it } from "vitest";
import { billedPrice } from "../../src/calls/reasoning-mode.ts";
import type { TextPrice } from "../../src/catalog/index.ts";

const at = (dialect: "dashscope" | "openai", price: TextPrice) =>
  billedPrice({ provider: { dialect }, offer: { price } });
const plain = { input: 1n, output: 2n };
const tiered = { ...plain, above: [{ inputTokens: 9, rates: { ...plain, reasoning: 4n } }] };

it("a price with a rate of reasoning bills the whole output by it at Alibaba alone, in each tier", () => {
  const marked = { reasoningIsMode: true };
  expect(at("dashscope", { ...plain, reasoning: 3n })).toMatchObject({ ...marked, reasoning: 3n });
  expect(at("dashscope", tiered)).toEqual({
    ...plain,
    ...marked,
    above: [{ inputTokens: 9, rates: { ...plain, ...marked, reasoning: 4n } }],
  });
  expect(at("dashscope", tiered)).toBe(at("dashscope", tiered));
  expect(at("openai", tiered)).toBe(tiered);
  expect(at("dashscope", plain)).toBe(plain);
});

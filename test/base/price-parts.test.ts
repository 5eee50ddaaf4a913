/** The parts of a price: the shown amounts add up to the charge, to the last digit. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import { imagesPart, priceLines, unitsPart, type PriceLine } from "../../src/base/price-parts.ts";
import { priceUsage, usageParts, type FixedPrice } from "../../src/catalog/index.ts";
import { exactUsd } from "../support/exact-usd.ts";

const sumOf = (lines: readonly PriceLine[]): bigint =>
  lines.reduce((sum, { amount }) => sum + exactUsd(amount), 0n);

const count = fc.nat({ max: 2_000_000 });
const rate = fc.bigInt({ min: 0n, max: 10n ** 12n });
const some = fc.option(rate, { nil: undefined });
const price = fc.record<FixedPrice>({
  input: rate,
  output: rate,
  cacheRead: some,
  cacheWrite: some,
  cacheWrite1h: some,
  reasoning: some,
  request: some,
});
const usage = fc.record({
  inputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  cacheWrite1hTokens: count,
  outputTokens: count,
  reasoningTokens: count,
});

it("the lines of any call add up to its charge exactly, and no token is counted twice (T53)", () => {
  fc.assert(
    fc.property(price, usage, (rates, used) => {
      const lines = priceLines(usageParts(rates, used));
      expect(sumOf(lines)).toBe(priceUsage(rates, used) * 1_000_000n);
      const tokens = lines.filter(({ per }) => per === "million_tokens");
      const counted = tokens.reduce((sum, { quantity }) => sum + Number(quantity), 0);
      expect(counted).toBe(used.inputTokens + used.outputTokens);
    }),
  );
});

it("the amount that rounding added is a separate line", () => {
  expect(
    priceLines(usageParts({ input: 150n, output: 1n }, { ...noUsage, inputTokens: 3 })),
  ).toEqual([
    {
      name: "input_tokens",
      quantity: "3",
      unit_price: "0.00000015",
      per: "million_tokens",
      amount: "0.00000000000045",
    },
    {
      name: "rounding",
      quantity: "1",
      unit_price: "0.00000000099955",
      per: "request",
      amount: "0.00000000099955",
    },
  ]);
});

it("the amount by which a charge is below its parts is a line named limit", () => {
  const parts = [imagesPart("output_images", 3, 2n)];
  const image = {
    name: "output_images",
    quantity: "3",
    unit_price: "0.000000002",
    per: "image",
    amount: "0.000000006",
  };
  const limit = { name: "limit", quantity: "1", per: "request" };
  expect(priceLines(parts, 5n)).toEqual([
    image,
    { ...limit, unit_price: "-0.000000001", amount: "-0.000000001" },
  ]);
  expect(priceLines(parts, 6n)).toEqual([image]);
});

it("a unit is counted one by one, and tokens by the million", () => {
  const tokens = { rate: 1_000_000n, per: "million_tokens" } as const;
  expect(priceLines([unitsPart("searches", 2, { rate: 5n, per: "search" })])).toMatchObject([
    { quantity: "2", amount: "0.00000001" },
  ]);
  expect(priceLines([unitsPart("tokens", 2, tokens)])).toMatchObject([
    { quantity: "2", amount: "0.000000002" },
  ]);
});

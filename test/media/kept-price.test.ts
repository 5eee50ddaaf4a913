/** The price that the log keeps of each call, and the parts of a charge by it. docs/management.md. */
import { describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { noUsage } from "../../src/base/usage.ts";
import type { MediaPrice, TextPrice } from "../../src/catalog/index.ts";
import { partsAt, priceOfStored, storedPrice } from "../../src/media/index.ts";

const rates = { input: parseUsd("1"), output: parseUsd("2"), cacheRead: undefined };
const above = [{ inputTokens: 200_000, rates: { input: parseUsd("3"), output: parseUsd("4") } }];

describe("the kept price of a call", () => {
  it("is read back from JSON with its tiers, whose sizes stay numbers", () => {
    const { cacheRead: _none, ...set } = rates;
    const kept: object = JSON.parse(JSON.stringify(storedPrice({ ...rates, above })));
    expect(kept).toEqual({
      input: "1000000000",
      output: "2000000000",
      above: [{ inputTokens: 200_000, rates: { input: "3000000000", output: "4000000000" } }],
    });
    expect(priceOfStored(kept)).toEqual({ ...set, above });
  });

  it("has no prices of other times, and no rate that is not set", () => {
    const hours = [{ hoursUtc: ["01:00-02:00"], price: rates }];
    const price: TextPrice = {
      ...rates,
      hours,
      otherHours: rates,
      later: [{ fromMs: 0, price: rates }],
    };
    expect(Object.keys(storedPrice(price))).toEqual(["input", "output"]);
  });

  it("is read back with the tables and the basis of a picture", () => {
    const price: MediaPrice = {
      basis: "image_tiers",
      outputImage: { low: { "1K": 1n }, medium: { "1K": 2n } },
      inputImage: 3n,
    };
    expect(priceOfStored(storedPrice(price))).toEqual(price);
  });
});

describe("the parts of a charge", () => {
  const second: MediaPrice = {
    basis: "video_seconds",
    outputSecond: { "480p": 1n },
    inputImage: 1n,
  };
  const video = { unit: "video_seconds", seconds: 2, resolution: "480p", inputImages: 0 };

  it("are none if the price is not one for such a usage, or has no rate for it", () => {
    expect(partsAt(rates, video)).toBeUndefined();
    expect(partsAt(second, { ...noUsage, inputTokens: 1 })).toBeUndefined();
    expect(partsAt(second, { unit: "video_tokens", tokens: 1 })).toBeUndefined();
    expect(partsAt(second, { ...video, resolution: "8K" })).toBeUndefined();
    expect(partsAt(second, video)).toHaveLength(2);
  });

  it("have a price by quality and size for a usage in pictures", () => {
    const price: MediaPrice = {
      basis: "image_tiers",
      outputImage: { low: { "1K": 1n } },
      inputImage: 1n,
    };
    const pictures = { unit: "images", outputImages: 1, inputImages: 0 };
    expect(partsAt(price, { ...pictures, quality: "low", imageSize: "1K" })).toHaveLength(2);
  });
});

// Token counts off the wire.
import { describe, expect, it } from "vitest";
import {
  noUsage,
  renderUsage,
  reportedAmount,
  tokenCount,
  withMediaCounts,
} from "../../src/base/usage.ts";

describe("a token count", () => {
  it("T61: keeps an explicit zero instead of the fallback", () => {
    expect(tokenCount(0, 50)).toBe(0);
    expect(tokenCount(12, 50)).toBe(12);
  });

  it("T51: replaces negative, fractional, textual and unsafe counts by the fallback", () => {
    for (const value of [-1, 1.5, Number.NaN, "7", null, undefined, {}, 2 ** 53, Infinity]) {
      expect(tokenCount(value)).toBe(0);
      expect(tokenCount(value, 50)).toBe(50);
    }
  });

  it("T51: is at most a thousand million", () => {
    expect([tokenCount(1_000_000_000), tokenCount(1_000_000_001, 50)]).toEqual([1_000_000_000, 50]);
  });
});

it("T51: a reported amount is a finite number that is not negative", () => {
  const told = [0, 0.5, 3, -0.5, Number.NaN, Infinity, -Infinity, "3", null, undefined];
  const known = told.map((value) => reportedAmount(value));
  expect(known).toEqual([0, 0.5, 3, ...Array.from({ length: 7 }, () => undefined)]);
});

describe("counts of sound and pictures", () => {
  const usage = { ...noUsage, inputTokens: 100, cacheReadTokens: 40, outputTokens: 20 };

  it("T51: are at most the tokens of their side, and of its cached part", () => {
    const told = {
      audioInputTokens: 101,
      audioCacheReadTokens: 41,
      imageInputTokens: 7,
      audioOutputTokens: 21,
      imageOutputTokens: 5,
    };
    expect(withMediaCounts(usage, told)).toEqual({
      ...usage,
      audioInputTokens: 100,
      audioCacheReadTokens: 40,
      imageInputTokens: 7,
      audioOutputTokens: 20,
      imageOutputTokens: 5,
    });
  });

  it("leave out what is 0 or no count, and the usage the same object without any", () => {
    expect(withMediaCounts(usage, { audioInputTokens: 3, imageInputTokens: 0 })).toEqual({
      ...usage,
      audioInputTokens: 3,
    });
    expect(withMediaCounts(usage, {})).toBe(usage);
    expect(withMediaCounts(usage, { audioInputTokens: "x" })).toBe(usage);
  });
});

it("a usage is shown by the names of the wire", () => {
  expect(renderUsage({ inputTokens: 1, cacheWrite1hTokens: 2, unit: "images" })).toEqual({
    input_tokens: 1,
    cache_write_1h_tokens: 2,
    unit: "images",
  });
});

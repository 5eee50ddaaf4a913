// Money in nano-USD: reading, writing, and pricing without ever losing or making up a nano-dollar.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatUsd, parseUsd, priceOfUnits } from "../../src/base/money.ts";

describe("amounts on the wire", () => {
  it.each([
    ["0", 0n],
    ["1", 1_000_000_000n],
    ["25.00", 25_000_000_000n],
    ["0.06", 60_000_000n],
    ["0.000000001", 1n],
    ["-1.5", -1_500_000_000n],
    ["007", 7_000_000_000n],
    ["999999999999999999.999999999", 999_999_999_999_999_999_999_999_999n],
  ])("reads %s", (text, nanos) => {
    expect(parseUsd(text)).toBe(nanos);
  });

  it.each([
    "",
    " 1",
    "1 ",
    "+1",
    "1.",
    ".5",
    "1e3",
    "1,000",
    "0x10",
    "NaN",
    "Infinity",
    "--1",
    "1.0000000001",
    "1000000000000000000",
    "١",
  ])("refuses %j", (text) => {
    expect(() => parseUsd(text)).toThrow(RangeError);
  });

  it.each([
    [0n, "0"],
    [60_000_000n, "0.06"],
    [1n, "0.000000001"],
    [25_000_000_000n, "25"],
    [-1n, "-0.000000001"],
    [10_000_000_000n, "10"],
    [123_456_789_012_345_678n, "123456789.012345678"],
  ])("writes %s as a plain decimal", (nanos, text) => {
    expect(formatUsd(nanos)).toBe(text);
  });

  it("what is written reads back as the same amount, and never with an exponent", () => {
    const amounts = fc.bigInt({ min: -(10n ** 26n), max: 10n ** 26n });
    fc.assert(
      fc.property(amounts, (nanos) => {
        const text = formatUsd(nanos);
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/);
        expect(parseUsd(text)).toBe(nanos);
      }),
    );
  });
});

describe("the price of a count of units", () => {
  it.each([
    [0, 500_000_000n, 0n],
    [1_000_000, 500_000_000n, 500_000_000n],
    [1, 500_000_000n, 500n],
    // Two thousandths of a nano-dollar are still a nano-dollar.
    [1, 2_000n, 1n],
    [3, 333_333n, 1n],
    [4, 333_333n, 2n],
    [Number.MAX_SAFE_INTEGER, 1_000_000n, 9_007_199_254_740_991n],
  ])("%d units at %s nano-dollars a million", (units, price, expected) => {
    expect(priceOfUnits(units, price)).toBe(expected);
  });

  it("is never below the exact price, and above it by less than one nano-dollar", () => {
    const counts = fc.nat({ max: 2 ** 31 - 1 });
    const prices = fc.bigInt({ min: 0n, max: 10n ** 15n });
    fc.assert(
      fc.property(counts, prices, (units, price) => {
        const exact = BigInt(units) * price;
        const charged = priceOfUnits(units, price) * 1_000_000n;
        expect(charged >= exact && charged - exact < 1_000_000n).toBe(true);
      }),
    );
  });

  it("T51: a negative, fractional or unsafe count is refused instead of priced", () => {
    for (const units of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect(() => priceOfUnits(units, 1n)).toThrow(RangeError);
  });
});

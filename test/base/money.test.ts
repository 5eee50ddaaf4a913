// Money in nano-USD: reading, writing, and pricing without losing or adding a nano-dollar.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertAmount, formatUsd, larger, parseUsd, smaller } from "../../src/base/money.ts";

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

  it("read back as the same amount after writing, and never have an exponent", () => {
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

it("the larger and the smaller of two amounts are found, also if both are negative", () => {
  expect([smaller(-2n, 1n), smaller(1n, -2n), smaller(-3n, -2n), smaller(4n, 4n)]).toEqual([
    -2n,
    -2n,
    -3n,
    4n,
  ]);
  expect([larger(-2n, 1n), larger(1n, -2n), larger(-3n, -2n), larger(4n, 4n)]).toEqual([
    1n,
    1n,
    -2n,
    4n,
  ]);
});

it("an amount of the ledger is at least 0 and at most ten million dollars", () => {
  const most = 10_000_000n * 1_000_000_000n;
  const isRefused = (amount: bigint) => {
    try {
      assertAmount(amount);
      return false;
    } catch {
      return true;
    }
  };
  expect([-1n, 0n, most, most + 1n].map(isRefused)).toEqual([true, false, false, true]);
});

// Token counts off the wire.
import { describe, expect, it } from "vitest";
import { tokenCount } from "../../src/base/usage.ts";

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
});

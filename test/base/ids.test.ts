// Identifiers: prefix, sortable time, 80 random bits.
import { describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";

describe("identifiers", () => {
  it("consist of the prefix, an underscore and 26 characters of the ULID alphabet", () => {
    expect(newId("req")).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(newId("task")).toMatch(/^task_/);
  });

  it("sort by their time of creation", () => {
    const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, 2 ** 48];
    const ids = times.map((time) => newId("x", time));
    expect(ids.toSorted()).toEqual(ids);
  });

  it("contain the millisecond of their creation", () => {
    const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
    const digits = newId("x", 1_795_000_000_123).slice(2, 12).split("");
    expect(digits.reduce((sum, digit) => sum * 32 + alphabet.indexOf(digit), 0)).toBe(
      1_795_000_000_123,
    );
  });

  it("differ within one millisecond, and use the whole alphabet", () => {
    const ids = Array.from({ length: 20_000 }, () => newId("x", 0).slice(12));
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.join("")).size).toBe(32);
  });
});

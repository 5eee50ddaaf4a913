import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generateKey, parseKey } from "../../src/tenancy/key-format.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("the format of API keys", () => {
  it("KEY-17: a key is gw_live_, 43 base62 characters and 6 of checksum, 57 in all", () => {
    expect(generateKey()).toMatch(/^gw_live_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
    expect(generateKey()).not.toBe(generateKey());
  });

  it("a key contains all 256 bits: different bytes give different keys, and each can be parsed", () => {
    fc.assert(
      fc.property(bytes32, bytes32, (left, right) => {
        const key = generateKey(left);
        expect(parseKey(key)).toEqual({ prefix: key.slice(0, 12), last4: key.slice(-4) });
        expect(key === generateKey(right)).toBe(Buffer.compare(left, right) === 0);
      }),
    );
    expect(generateKey(new Uint8Array(32).fill(255))).toHaveLength(57);
    // The checksum that another implementation (Python's zlib) computes: external scanners rely on it.
    expect(generateKey(new Uint8Array(32))).toBe(`gw_live_${"0".repeat(43)}24GtGe`);
  });

  it("a change of any character is detected without a database", () => {
    const anyKey = bytes32.map((bytes) => generateKey(bytes));
    const anyCharacter = fc.oneof(
      fc.nat(61).map((at) => alphabet[at]!),
      fc.string({ unit: "grapheme" }),
    );
    fc.assert(
      fc.property(anyKey, fc.nat(56), anyCharacter, (key, at, character) => {
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        fc.pre(changed !== key);
        expect(parseKey(changed)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it("each of the 61 other characters is detected at every position", () => {
    const key = generateKey();
    for (let at = 0; at < key.length; at += 1) {
      for (const character of alphabet) {
        if (character === key[at]) continue;
        expect(parseKey(key.slice(0, at) + character + key.slice(at + 1))).toBeUndefined();
      }
    }
  });

  it("swapped neighbors, cut and lengthened keys, line ends and other secrets are refused", () => {
    const key = generateKey(new Uint8Array(32).fill(7));
    const swapped = key.slice(0, 20) + key[21]! + key[20]! + key.slice(22);
    expect(swapped).not.toBe(key);
    for (const text of [swapped, key.slice(0, -1), `${key}0`, `${key}\n`, "", "whsec_x"]) {
      expect(parseKey(text)).toBeUndefined();
    }
  });
});

// JSON from outside: what is refused, and that the bound on nesting is exact and looks through strings.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GatewayError } from "../../src/base/errors.ts";
import { nestsDeeperThan, parseJsonObject } from "../../src/base/json.ts";

const parse = (text: string) => parseJsonObject(Buffer.from(text));
const invalid = (bytes: Uint8Array) => {
  expect(() => parseJsonObject(bytes)).toThrow(
    expect.objectContaining({ code: "invalid_json", status: 400 }) as GatewayError,
  );
};

describe("a request body", () => {
  it("is one JSON object", () => {
    expect(parse(' {"a": [1, "é", null]} ')).toEqual({ a: [1, "é", null] });
  });

  it.each(["", " ", "null", "1", '"a"', "[]", "{", '{"a":1}{"b":2}', "{'a':1}", '{"a":NaN}'])(
    "is not %j",
    (text) => {
      invalid(Buffer.from(text));
    },
  );

  it("is valid UTF-8: a lone surrogate or a cut character is refused, not replaced", () => {
    invalid(Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]));
    invalid(Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d]));
  });

  it("nests up to 200 levels, and not 201", () => {
    const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(parse(nested(200))).toHaveProperty("a");
    invalid(Buffer.from(nested(201)));
    invalid(Buffer.from(nested(1_000_000)));
  });
});

describe("the measure of nesting", () => {
  it("brackets inside strings do not count, whatever stands before the closing quote", () => {
    expect(nestsDeeperThan('["[[[[", "\\"[[[[", "\\\\", "[[[["]', 1)).toBe(false);
    expect(nestsDeeperThan('["\\\\", [[]]]', 2)).toBe(true);
  });

  it("agrees with the depth of the parsed value", () => {
    const depth = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(depth))
        : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const levels = depth(value);
        expect(nestsDeeperThan(JSON.stringify(value), levels)).toBe(false);
        expect(nestsDeeperThan(JSON.stringify(value), levels - 1)).toBe(levels > 0);
      }),
    );
  });
});

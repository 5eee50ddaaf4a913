// JSON from outside: which texts are refused. The bound on nesting is exact and ignores brackets in strings.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GatewayError } from "../../src/base/errors.ts";
import { parseAnswerText } from "../../src/base/answer-json.ts";
import { exactTwinOf, longCharactersMax, longNumbersMax } from "../../src/base/exact-numbers.ts";
import { parseJsonObject } from "../../src/base/json.ts";
import { JsonScan, jsonBounds, scanJson } from "../../src/base/json-scan.ts";
import { costMs } from "../support/cost.ts";

const parse = (text: string) => parseJsonObject(Buffer.from(text));
const invalid = (bytes: Uint8Array) => {
  expect(() => parseJsonObject(bytes)).toThrow(
    expect.objectContaining({ code: "invalid_json", status: 400 }) as GatewayError,
  );
};

describe("a request body", () => {
  it("may be one JSON object", () => {
    expect(parse(' {"a": [1, "é", null]} ')).toEqual({ a: [1, "é", null] });
  });

  it.each(["", " ", "null", "1", '"a"', "[]", "{", '{"a":1}{"b":2}', "{'a':1}", '{"a":NaN}'])(
    "must not be %j",
    (text) => {
      invalid(Buffer.from(text));
    },
  );

  it("must be valid UTF-8: a lone surrogate or a cut character is refused, not replaced", () => {
    invalid(Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]));
    invalid(Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d]));
  });

  it("may nest up to 200 levels, not 201", () => {
    const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(parse(nested(200))).toHaveProperty("a");
    invalid(Buffer.from(nested(201)));
    invalid(Buffer.from(nested(1_000_000)));
  });
});

/** True if the measure refuses the text under these bounds on levels, values or parts. */
const breaks = (text: string, bounds: Partial<typeof jsonBounds>): boolean =>
  typeof scanJson(Buffer.from(text), { ...jsonBounds, ...bounds }) === "string";
const nestsDeeperThan = (text: string, depth: number) => breaks(text, { depth });

describe("the measure of nesting", () => {
  it("ignores brackets inside strings, with any characters before the closing quote", () => {
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

describe("the limit on values", () => {
  const list = (count: number, item: string) => `{"a":[${Array(count).fill(item).join(",")}]}`;

  it("allows 500,000 numbers, 80,000 objects, lists, texts and names, and 10,000 members of an object", () => {
    expect(parse(list(jsonBounds.values - 3, "1"))).toHaveProperty("a");
    invalid(Buffer.from(list(jsonBounds.values, "1")));
    for (const item of ["{}", "[]", '""']) {
      expect(parse(list(jsonBounds.parts - 3, item))).toHaveProperty("a");
      invalid(Buffer.from(list(jsonBounds.parts, item)));
    }
    const object = (members: number) =>
      `{${Array.from({ length: members }, (_, index) => `"${index}":1`).join(",")}}`;
    expect(parse(object(jsonBounds.members))).toHaveProperty("1");
    invalid(Buffer.from(object(jsonBounds.members + 1)));
    invalid(Buffer.from(list(9, object(10_000))));
    expect(parse(list(7, object(jsonBounds.members)))).toHaveProperty("a");
  });

  it("allows 50,000 numbers of more digits than a double holds in a body; in an answer further ones become doubles", () => {
    for (const long of ["12345678901234567890.5", "9007199254740993", "-0", "1e400"]) {
      expect(parse(list(longNumbersMax, long))).toHaveProperty("a");
      const body = Buffer.from(list(longNumbersMax + 1, long));
      expect(() => parseJsonObject(body)).toThrow(
        "The body has more than 50000 numbers of more digits than a double holds, or more than 2000000 characters in them.",
      );
      // In a vendor's answer such a number becomes a double.
      const answered = parseAnswerText(body.toString()) as { a: number[] };
      expect(exactTwinOf(answered.a)[0]).toBe(Number(long));
    }
  });

  it("allows 2,000,000 characters in such numbers, in one or in many", () => {
    const one = (digits: number) => list(1, "7".repeat(digits));
    const thousand = (digits: number) => list(1000, `-${"7".repeat(digits - 1)}`);
    expect(parse(one(longCharactersMax))).toHaveProperty("a");
    expect(parse(thousand(longCharactersMax / 1000))).toHaveProperty("a");
    for (const text of [one(longCharactersMax + 1), thousand(longCharactersMax / 1000 + 1)]) {
      expect(() => parseJsonObject(Buffer.from(text))).toThrow(/than 2000000 characters in them/);
      expect(parseAnswerText(text)).toHaveProperty("a");
    }
  });

  it("never counts fewer values or parts than there are", () => {
    const countOf = (value: unknown): { values: number; parts: number } => {
      const own = typeof value === "string" || (typeof value === "object" && value !== null);
      const count = { values: 1, parts: own ? 1 : 0 };
      if (typeof value !== "object" || value === null) return count;
      if (!Array.isArray(value)) count.parts += Object.keys(value).length;
      for (const inner of Object.values(value).map(countOf)) {
        count.values += inner.values;
        count.parts += inner.parts;
      }
      return count;
    };
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 6 })), (value) => {
        const text = JSON.stringify(value, undefined, 1);
        const { values, parts } = countOf(value);
        expect(breaks(text, { values: values - 1 })).toBe(true);
        expect(breaks(text, { parts: parts - 1 })).toBe(true);
        expect(breaks(text, { parts })).toBe(false);
      }),
    );
  });

  it("counts the same if a body is scanned in parts, at any cuts", () => {
    const text = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.string({ unit: fc.constantFrom('"', "\\", "a", ",", ":", "[", "{", "}", "é") }),
      fc.constantFrom(`["${"x".repeat(200)}\\\\","${"\\\\".repeat(90)}\\"",{"a":1}]`),
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 300 }), { minLength: 1 }), (text, counts) => {
        const bytes = Buffer.from(text);
        const scan = new JsonScan(bytes);
        for (let step = 0; !scan.advance(1 + counts[step % counts.length]!); step += 1);
        expect(scan.found).toEqual(scanJson(bytes));
      }),
      { numRuns: 3_000 },
    );
  });

  it("is checked in one pass: millions of escaped quotes take no longer than other text", async () => {
    const text = `{"a":"${'\\"'.repeat(8_000_000)}"}`;
    let isBroken = true;
    const escapedMs = await costMs(() => (isBroken = breaks(text, {})));
    expect(isBroken).toBe(false);
    // Two native searches for each escaped quote took more than a second.
    expect(escapedMs).toBeLessThan(600);
  });

  it("is checked in one pass: millions of colons behind one name take no longer than other text", async () => {
    let isBroken = true;
    const colonsMs = await costMs(() => (isBroken = breaks(`{"a"${":".repeat(4_000_000)}1}`, {})));
    expect(isBroken).toBe(false);
    // Reading the name again at each colon took minutes for a hundredth of this text.
    expect(colonsMs).toBeLessThan(600);
  });
});

/**
 * Numbers that no double holds keep their text. The scan and the text reader find the same ones; the values for calculations
 * stay plain numbers.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactTwinOf, exactText } from "../../src/base/exact-numbers.ts";
import { isLongNumber, mayHoldLongNumbers } from "../../src/base/long-numbers.ts";
import { parseJsonObject } from "../../src/base/json.ts";
import { scanJson } from "../../src/base/json-scan.ts";
import { parseJsonText } from "../../src/base/json-text.ts";
import { costMs } from "../support/cost.ts";
import { shortOrLong } from "../support/long.ts";

const digits = (min: number, max: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max })
    .map((all) => all.join(""));

const isLikeDouble = (length: number): boolean => length === 16 || length === 17;

/** Whole numbers and decimals of any length, as JSON writes them. */
const number = fc
  .tuple(fc.constantFrom("", "-"), fc.integer({ min: 1, max: 9 }), digits(0, 30), digits(0, 30))
  // The reader takes decimals of 16 and 17 digits for doubles.
  .filter(
    ([, , rest, fraction]) => fraction === "" || !isLikeDouble(1 + rest.length + fraction.length),
  )
  .map(([sign, first, rest, fraction]) => `${sign}${first}${rest}${fraction && `.${fraction}`}`);

const blanks = fc.constantFrom("", " ", "\n\t  ", " ".repeat(40));

describe("numbers with more digits than a double holds", () => {
  it("T3: keep their digits through parsing and writing, for a body and for a text, with or without blanks", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(number, blanks, blanks)), fc.boolean(), (all, isEscaped) => {
        const name = isEscaped ? String.raw`"\u0061"` : '"a"';
        const list = all.map(([text, before, after]) => `${before}${text}${after}`).join(",");
        const text = `{${name}:[${list}],"b":"${"x".repeat(30)}","c": 1 }`;
        for (const value of [parseJsonObject(Buffer.from(text)), parseJsonText(text)]) {
          const { a } = value as { a: unknown[] };
          const exact = exactTwinOf(a);
          // The values for calculations are plain numbers.
          expect(a.every((one) => typeof one === "number")).toBe(true);
          for (const [index, written] of all.map(([one]) => one).entries()) {
            const sent = JSON.stringify(exact[index]);
            // An equal double is written in its shorter form.
            expect(sent === written || same(sent, written)).toBe(true);
          }
        }
      }),
      { numRuns: shortOrLong(200, 5_000) },
    );
  });

  it("T3: include a signed zero in any spelling, and no other short number", () => {
    const zeros = ["-0", "-0.0", "-0.00", "-0e5", "-0.0E+3", "-0e-1"];
    const others = ["-0.5", "-0.001", "0", "0.0", "-1", "-10", "-0.1e-3", '"-0"'];
    for (const blank of ["", " ", "\n  "]) {
      for (const [list, isExact] of [
        [zeros, true],
        [others, false],
      ] as const) {
        for (const written of list) {
          const text = `{"a":[1,${blank}${written}${blank}],"-0":0}`;
          expect(mayHoldLongNumbers(text)).toBe(isExact);
          expect(scanJson(Buffer.from(text))).toMatchObject({ hasLongNumbers: isExact });
          const { a } = parseJsonObject(Buffer.from(text)) as { a: unknown[] };
          const sent = isExact ? written : JSON.stringify(JSON.parse(written));
          expect(exactText(a)).toBe(`[1,${sent}]`);
          expect(exactText(parseJsonText(text))).toBe(`{"a":[1,${sent}],"-0":0}`);
        }
      }
    }
  });

  it("T3: are recognised in bytes exactly as in text", () => {
    const some = (max: number) =>
      fc.string({ unit: fc.constantFrom("0", "0", "1", "9"), minLength: 1, maxLength: max });
    const number = fc
      .tuple(
        fc.constantFrom("", "-"),
        fc.oneof(
          fc.constant("0"),
          some(25).map((text) => `7${text}`),
        ),
        fc.oneof(
          fc.constant(""),
          some(25).map((text) => `.${text}`),
        ),
        fc.oneof(
          fc.constant(""),
          fc.tuple(fc.constantFrom("e", "E", "e+", "e-"), some(4)).map((all) => all.join("")),
        ),
        fc.constantFrom("", " ", "\n\t "),
      )
      .map((all) => all.join(""));
    fc.assert(
      fc.property(number, (text) => {
        const isLong = isLongNumber(Buffer.from(text), 0, text.length);
        expect(isLong).toBe(mayHoldLongNumbers(`:${text}`));
      }),
      { numRuns: shortOrLong(2_000, 200_000) },
    );
  });

  it("are searched for only in texts that may contain them", () => {
    const text = (body: string) => {
      const shape = scanJson(Buffer.from(body));
      return typeof shape === "string" ? shape : [shape.hasLongNumbers, mayHoldLongNumbers(body)];
    };
    expect(text('{"created":1790000001,"logprob":-0.00012345678901234567}')).toEqual([
      false,
      false,
    ]);
    expect(text('{"id":"12345678901234567890"}')).toEqual([false, false]);
    expect(text(`{"a":{"b":1${" ".repeat(40)}}${" ".repeat(40)}}`)).toEqual([false, false]);
    expect(text('{"id":12345678901234567890}')).toEqual([true, true]);
  });

  it("leave a value that is nested too deeply as the parser reads it", () => {
    const text = `${'{"a":'.repeat(100_000)}12345678901234567890${"}".repeat(100_000)}`;
    let value = parseJsonText(text);
    let depth = 0;
    for (; typeof value === "object"; depth += 1) value = (value as { a: unknown }).a;
    expect([depth, value]).toEqual([100_000, 12345678901234567000]);
  });

  it("T3: include short numbers of a body whose exponent is beyond all doubles", () => {
    const numbers = ["1e400", "-1E+400", "1e-400", "12.5e309"];
    const list = parseJsonObject(Buffer.from(`{"a":[${numbers.join(" , ")}],"b":1e99}`))["a"];
    expect(exactText(list)).toBe(`[${numbers.join(",")}]`);
  });

  it("take no longer to parse if they have a million digits", async () => {
    const zeros = "0".repeat(1_000_000);
    for (const number of [`1${zeros}1`, `1.${zeros}1`, `0.${zeros}`])
      expect(await costMs(() => parseJsonText(`{"a":${number}}`))).toBeLessThan(400);
  });

  it("cost little in a large list that contains one of them", async () => {
    const numbers = "0.123,".repeat(400_000);
    let value: unknown;
    const ms = await costMs(() => (value = parseJsonText(`{"a":[${numbers}9223372036854775807]}`)));
    expect(exactText(value).slice(-25)).toBe("0.123,9223372036854775807]}".slice(-25));
    // A reviver, which V8 calls for each value, took a second.
    expect(ms).toBeLessThan(450);
  });

  it("are distinguished from strings that look like them, under any member name", () => {
    const text =
      '{"__proto__":{"7":9223372036854775807,"a":"x:9223372036854775807,"},"b":[{"c":[]}]}';
    expect(exactText(parseJsonText(text))).toBe(text);
  });

  it("become doubles at depths that could not be written", () => {
    for (const depth of [1_500, 7_000]) {
      const text = `${'{"a":'.repeat(depth)}12345678901234567890${"}".repeat(depth)}`;
      expect(exactText(parseJsonText(text))).toContain('{"a":12345678901234567000}');
    }
  });

  it("are absent from a value whose exact twin is the value itself", () => {
    const value = parseJsonText('{"a":[1,2.5,"x"]}');
    expect(exactTwinOf(value)).toBe(value);
    expect(exactText(value)).toBe('{"a":[1,2.5,"x"]}');
  });
});

/** True if two texts are the same number, with all its digits. */
function same(left: string, right: string): boolean {
  const scaled = (text: string): bigint => {
    const [, sign, whole, fraction = "", exponent = "0"] =
      /^(-?)(\d+)(?:\.(\d+))?(?:e\+?(-?\d+))?$/.exec(text)!;
    return (
      BigInt(`${sign}${whole}${fraction}`) * 10n ** BigInt(80 + Number(exponent) - fraction.length)
    );
  };
  return scaled(left) === scaled(right);
}

// JSON of vendors: bounded before it is parsed, so that no answer and no frame of a stream blocks the process.
import { describe, expect, it } from "vitest";
import { parseAnswerText } from "../../src/base/answer-json.ts";
import { costMs } from "../support/cost.ts";

const full = (count: number, item: string): string =>
  `{"a":[${`${item},`.repeat(count - 1)}${item}]}`;

describe("JSON text of a vendor", () => {
  it.each([
    ["a picture", `{"b64_json":"${"A".repeat(20_000_000)}"}`],
    ["a thousand vectors", full(1_000, `[${"0.123456,".repeat(1_000)}0]`)],
    ["a hundred thousand words", full(100_000, '"word"')],
  ])("is parsed if it is %s", (_name, text) => {
    expect(parseAnswerText(text)).toHaveProperty(Object.keys(JSON.parse(text) as object)[0]!);
  });

  it.each([
    ["objects", full(10_000_000, "{}")],
    ["empty texts", full(10_000_000, '""')],
    ["members", `{${'"a":1,'.repeat(4_000_000)}"b":1}`],
    ["levels", "[".repeat(20_000_000)],
  ])("is refused within 1.5 s if it has millions of %s", async (_name, text) => {
    // Parsing one of them takes some 2 s, in which the process serves no other call.
    const refused = () => expect(() => parseAnswerText(text)).toThrow(/more values or levels/);
    expect(await costMs(refused)).toBeLessThan(1_500);
  });

  it("is refused above 1,000 levels, even if it is short, as a frame of a stream is", () => {
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect(parseAnswerText(nested(1_000))).toBeInstanceOf(Array);
    expect(() => parseAnswerText(nested(1_001))).toThrow(/more values or levels/);
  });

  it("costs less than seven times its plain parsing, for vectors of numbers with 16 and 17 digits", async () => {
    const vector = Array.from({ length: 1_000 }, (_, index) => Math.sin(index + 1) / 31);
    const text = JSON.stringify({ a: Array.from({ length: 500 }, () => vector) });
    const times: number[] = [];
    // Parsing takes 15 ms. A short disturbance on the machine may add half of that, but not three times in a row.
    for (let round = 0; round < 3; round += 1) {
      const parsing = await costMs(() => JSON.parse(text));
      times.push((await costMs(() => parseAnswerText(text))) / parsing);
    }
    expect(Math.min(...times)).toBeLessThan(7);
  });
});

/** JSON written in slices equals JSON.stringify, wherever it is cut, and other work runs between the slices. */
import { describe, expect, it } from "vitest";
import { exactTwinOf } from "../../src/base/exact-numbers.ts";
import { parseJsonText } from "../../src/base/json-text.ts";
import {
  jsonSlices,
  writeParts,
  writePartsInTurns,
  type JsonPieces,
} from "../../src/base/json-write.ts";
import { leastCostMs } from "../support/cost.ts";

const longText = (length: number, unit: string): string => unit.repeat(length / unit.length);
const mebi = 2 ** 20;

/** A value within 190 lists and objects. */
const nested = (value: unknown): unknown => {
  let outer = value;
  for (let level = 0; level < 190; level += 1) outer = level % 2 === 0 ? [outer, 1] : { a: outer };
  return outer;
};

const values: readonly (readonly [string, unknown])[] = [
  ["a small value", { a: [1, "x", null, true, {}, []], b: undefined, "": "é" }],
  ["a long text of quotes", longText(3 * mebi, '"')],
  ["pairs of surrogates across every cut", `x${longText(2 * mebi, "🏔")}`],
  ["lone surrogates at a cut", "\ud83c".repeat(mebi + 3)],
  ["a long text between others", { a: 1, b: ["x", longText(2 * mebi, "\\\n"), {}], c: "y" }],
  [
    "many texts that are long together",
    { list: Array.from({ length: 40 }, () => ({ t: longText(mebi / 8, `"`) })) },
  ],
  ["many numbers", Array.from({ length: 150_000 }, (_, index) => index / 8)],
  ["long names", { [longText(2 * mebi, '"')]: 1, b: 2 }],
  ["a number of a million digits", exactTwinOf(parseJsonText(`{"a":${"1".repeat(mebi + 1)}}`))],
  ["members without a value", { a: undefined, b: longText(2 * mebi, "b"), c: undefined }],
  ["a long list within many others", nested(Array.from({ length: 200_000 }, (_, at) => at))],
  [
    "long texts, objects and lists within many others",
    nested([{ "": longText(2 * mebi, "é"), b: undefined, c: [[], {}, null] }, [], {}, "x"]),
  ],
  ["only members without a value", [{ a: undefined }, longText(2 * mebi, "b")]],
];

const bytesOf = (written: JsonPieces): Buffer =>
  typeof written === "string" ? Buffer.from(written) : Buffer.concat(written);

describe("JSON in slices", () => {
  const list = Array.from({ length: 200_000 }, (_, at) => at % 10);

  it.each(values)("equals the text of JSON.stringify: %s", (_name, value) => {
    const expected = Buffer.from(JSON.stringify(value));
    // Comparing buffers is quicker than `toEqual`.
    expect(bytesOf(writeParts(jsonSlices(value))).equals(expected)).toBe(true);
  });

  it("costs the same for each value, however deep it stands", async () => {
    const cost = (value: unknown): Promise<number> =>
      leastCostMs(() => writeParts(jsonSlices(value)), 300);
    expect(await cost(nested(list))).toBeLessThan(300);
  });

  it("costs the same for an object of many members, however deep it stands", async () => {
    const object: unknown = Object.fromEntries(list.map((digit, at) => [`k${at}`, digit]));
    const cost = (value: unknown): Promise<number> =>
      leastCostMs(() => writeParts(jsonSlices(value)), 600);
    expect(await cost(nested(object))).toBeLessThan(600);
  });

  it("cuts a long text, and lets other work run between the slices", async () => {
    const text = longText(4 * mebi, '"');
    const lengths = Array.from(jsonSlices({ text }), ({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(2 * mebi + 2);
    let turns = 0;
    const pieces = await writePartsInTurns(jsonSlices({ text, again: text }), async () => {
      turns += 1;
    });
    expect(turns).toBeGreaterThan(1);
    expect(bytesOf(pieces).equals(Buffer.from(JSON.stringify({ text, again: text })))).toBe(true);
  });
});

/** Arguments in pieces: the names in their JSON paths are written as RFC 9535 prescribes, whatever characters a schema has in them. T2. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinPartials } from "../../../src/protocols/generate-content/partial-arguments.ts";

/** A name in single quotes, as normalized paths have it (section 2.7), and in double quotes. */
const inSingle = (name: string): string =>
  `['${JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}']`;
const inDouble = (name: string): string => `[${JSON.stringify(name)}]`;

const someName = fc
  .oneof(
    fc.string({ maxLength: 8, unit: "binary" }),
    fc.string({
      maxLength: 8,
      unit: fc.constantFrom("'", '"', "\\", "/", "n", "]", "[", ".", "u"),
    }),
    fc.constantFrom("", "it's", 'a"b', "\\", "\n", "\0", "\ud800", "constructor", "$", "7"),
  )
  .filter((name) => name !== "__proto__");

describe("a piece of an argument", () => {
  it("T2: goes to the member that its path names, with any characters in the names, in either kind of quotes", () => {
    fc.assert(
      fc.property(someName, someName, fc.boolean(), (outer, inner, isDouble) => {
        const step = isDouble ? inDouble : inSingle;
        const jsonPath = `$${step(outer)}[0]${step(inner)}`;
        const pieces = [
          { jsonPath, stringValue: "a", willContinue: true },
          { jsonPath, stringValue: "b" },
        ];
        expect(joinPartials({}, pieces)).toEqual({ [outer]: [{ [inner]: "ab" }] });
      }),
      { numRuns: 500 },
    );
  });

  it("T2: goes to a member whose name has a quote", () => {
    const pieces = [
      { jsonPath: String.raw`$['it\'s']`, stringValue: "a" },
      { jsonPath: String.raw`$["a\"b"]`, stringValue: "c" },
      { jsonPath: String.raw`$['C:\\temp']`, stringValue: "d" },
    ];
    expect(joinPartials({}, pieces)).toEqual({ "it's": "a", 'a"b': "c", "C:\\temp": "d" });
  });

  it("T2: goes to a name as it is, if that has escapes which no JSON has", () => {
    const pieces = [{ jsonPath: String.raw`$['a\x']`, numberValue: 1 }];
    expect(joinPartials({}, pieces)).toEqual({ [String.raw`a\x`]: 1 });
  });
});

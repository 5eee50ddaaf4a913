/** Arguments of a streamed call reach messages clients as one JSON object, whatever text the model wrote. Traps T2, T3. */
import { describe, expect, it } from "vitest";
import { argumentsObject } from "../../../src/protocols/tool-arguments.ts";
import { InputPieces } from "../../../src/protocols/messages/input-pieces.ts";
import { costMs } from "../../support/cost.ts";

/** The pieces that are sent on, the last one at the call's end. */
function sent(pieces: readonly string[]): string[] {
  const input = new InputPieces();
  return [...pieces.map((piece) => input.push(piece)), input.end()];
}

const letters = (text: string): string[] => text.split("");

const valid = [
  "{}",
  " { } \n",
  '{"a":1}',
  '{"a":-0.5e+10,"b":[],"c":[1,"x",{"d":null}],"e":{}}\n',
  '{"text":"a \\"quoted\\" word, \\\\ and \\u00e9, {[,:]}","is":true,"no":false}',
  '{"a":{"a":{"a":[[["deep"]]]}},"a":"again"}',
  '{ "long" : 123456789012345678901234567890 , "x" : 1e400 }',
  '{"__proto__":{"x":1},"":2,"arguments":"own"}',
];

describe("T2: a valid object as a call's input", () => {
  it.each(valid)("is forwarded unchanged in any pieces: %s", (text) => {
    expect(sent([text]).join("")).toBe(text);
    expect(sent(letters(text)).join("")).toBe(text);
    for (let at = 0; at <= text.length; at += 1)
      expect(sent([text.slice(0, at), text.slice(at)]).join("")).toBe(text);
  });

  it("is forwarded piece by piece: only commas, blanks, the last brace and starts of words or escapes wait", () => {
    const pieces = ['{"a', '": "one ', "two\\", 'n", ', '"b":t', "rue", "}"];
    expect(sent(pieces)).toEqual(['{"a', '": "one ', "two", '\\n"', ', "b":', "true", "", "}"]);
  });
});

const broken = [
  '{"a":1} and more',
  '{"a":1}{"a":2}',
  '{"pattern":"\\d+","path":"/x"}',
  '{"a":"line\nbreak"}',
  "{'a':1}",
  "{a:1}",
  '{"a":1,}',
  '{"a":[1,]}',
  '{"a":[1,2',
  '{"a":{"b":"cut',
  '{"a":"x","na',
  '{"a":"x","name"',
  '{"a":"x","name":',
  '{"a":"x","name":tru',
  '{"a":"x","name":12',
  '{"a":"x\\u00',
  '{"a":01}',
  '{"a":NaN}',
  '{"a":1]',
  '{"a" 1}',
  '{"a":"x" "y"}',
  "{",
  "{,}",
  '{"a":}',
  '{"arguments":"own"',
];

describe("T3: invalid arguments as a call's input", () => {
  it.each(broken)(
    "are closed as an object that holds the whole text under `arguments`: %j",
    (text) => {
      for (const pieces of [[text], letters(text)]) {
        const { arguments: whole, ...others } = JSON.parse(sent(pieces).join(""));
        expect(whole).toBe(text);
        expect(argumentsObject(text)).toEqual({ arguments: text });
        expect(Object.values(others).every((value) => value === null)).toBe(true);
      }
    },
  );

  it.each(['"INP1"', "[1,2]", "look(1)", "\u00a0{}", "nul", "12"])(
    "become an object with the text under `arguments` if they do not start as one: %j",
    (text) => {
      const joined = sent(letters(text)).join("");
      expect(JSON.parse(joined)).toEqual({ arguments: text });
    },
  );

  it.each(["", "null", " null\n"])("become no input for %j", (text) => {
    expect(sent(letters(text)).join("")).toBe("");
  });

  it("are recognised at any changed character of an object", () => {
    const text = valid[4]!;
    for (let at = 0; at < text.length; at += 1)
      for (const other of ["x", '"', "\\", "}", ",", "\n", ""]) {
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        const joined = sent(letters(changed)).join("");
        expect(JSON.parse(joined)).toMatchObject(expected(changed));
      }
  });
});

const expected = (text: string): object => argumentsObject(text);

it("long runs of blanks, digits and brackets are processed in linear time", async () => {
  const starts = [
    ['{"a":1,', " "],
    ['{"a":', "1"],
    ['{"a":', "["],
    ['{"a":"', "x"],
    ["", " "],
  ] as const;
  const cost = await costMs(() => {
    for (const [start, piece] of starts)
      sent([start, ...Array.from({ length: 200_000 }, () => piece)]);
  });
  expect(cost).toBeLessThan(5_000);
});

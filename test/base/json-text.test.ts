/** Names of members are read as they were written, whatever texts were parsed before. */
import { assert, boolean, infiniteStream, jsonValue, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonObject } from "../../src/base/json.ts";
import { mayEscapeNames, parseJsonText } from "../../src/base/json-text.ts";

const names = [
  "\\",
  "\\\\",
  "\\n",
  "\n",
  "\\u",
  "u",
  "b",
  'q"',
  "q\\",
  '"',
  '\\"',
  "xy",
  "é",
  "ab",
  "__proto__",
  "7",
];
const quoted = (name: string): string => JSON.stringify(name);
const escaped = (name: string): string =>
  `"${name
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")}"`;

/** The names that V8 reads wrongly. Earlier texts affect how V8 reads the next one: see the opening comment of the source. */
function misread(parse: (text: string) => object): string[] {
  const wrong: string[] = [];
  let count = 0;
  for (const before of names)
    for (const name of names)
      for (const spelled of [quoted(name), escaped(name)]) {
        const first = `"p${(count += 1)}":1`;
        for (let times = 0; times < 2; times += 1) parse(`{${first},${quoted(before)}:1}`);
        const read = Object.keys(parse(`{${first},${spelled}:1}`));
        if (!read.includes(name))
          wrong.push(`${spelled} after ${quoted(before)}: ${quoted(read[1]!)}`);
      }
  return wrong;
}

describe("member names that are spelled with a backslash", () => {
  it("are read as written, whatever names were parsed before", () => {
    expect(misread((text) => parseJsonText(text) as object)).toEqual([]);
    expect(misread((text) => parseJsonObject(Buffer.from(text)))).toEqual([]);
  });

  const json = jsonValue({ maxDepth: 4 });
  /** Any spelling of a value: each letter of each text and name as it is, or escaped. */
  const spelling = tuple(json, infiniteStream(boolean())).map(([value, flips]) => {
    const text = JSON.stringify(value);
    return text.replace(/[a-z]/g, (letter) =>
      flips.next().value === true && !/true|false|null/.test(text)
        ? `\\u00${letter.charCodeAt(0).toString(16)}`
        : letter,
    );
  });

  it("do not change the value of any text", () => {
    assert(
      property(json, (value) => {
        const text = JSON.stringify(value, null, 1);
        expect(JSON.stringify(parseJsonText(text, true))).toBe(JSON.stringify(value));
        expect(JSON.stringify(parseJsonText(text))).toBe(JSON.stringify(value));
      }),
    );
  });

  it("may repeat: the last value counts, at the first one's position; __proto__ is an ordinary name", () => {
    const text = '{"b":1,"\\u0061":2,"a":3,"c":4,"\\u005f_proto__":{"x":1},"\\u0031":5}';
    const value = parseJsonText(text) as object;
    expect(Object.entries(value)).toEqual([
      ["1", 5],
      ["b", 1],
      ["a", 3],
      ["c", 4],
      ["__proto__", { x: 1 }],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each(['{"a\\":1}', '{"a\\qb":1}', '{"\\u00":1}', '"\\', '{"a\\n" 1}', '{"a\\n":}'])(
    "are refused in %s with the error of JSON.parse",
    (text) => {
      const message = (() => {
        try {
          return String(JSON.parse(text));
        } catch (error) {
          return (error as Error).message;
        }
      })();
      expect(() => parseJsonText(text)).toThrow(message);
      expect(() => parseJsonText(text, true)).toThrow(message);
    },
  );

  it("are searched for only in texts that may contain them", () => {
    for (const text of ['{"a":"b\\n"}', '{"a":["\\\\"],"b" :1}', "{}"])
      expect(mayEscapeNames(text)).toBe(false);
    for (const text of ['{"a\\n":1}', '{"\\"" :1}', '{"a":{"\\u0062"\n:1}}'])
      expect(mayEscapeNames(text)).toBe(true);
    assert(
      property(spelling, (text) => {
        const has = /"(?:[^"\\]|\\.)*\\(?:[^"\\]|\\.)*"\s*:/.test(text);
        expect(mayEscapeNames(text) || !has).toBe(true);
      }),
    );
  });
});

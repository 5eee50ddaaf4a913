// The canonical form of JSON that the response cache compares: texts of different meaning never have the same form.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { mayEscapeNames } from "../../src/base/json-text.ts";
import { canonicalJson } from "../../src/calls/canonical-json.ts";

const formOf = (text: string): string => canonicalJson(Buffer.from(text));

it.each([
  ['{ "b" : 1, "a" : [ true , null ] }', '{"a":[true,null],"b":1}'],
  ['{"a":1.0,"b":1,"c":1e2}', '{"a":1.0,"b":1,"c":1e2}'],
  ['{"a":12345678901234567890}', '{"a":12345678901234567890}'],
  [
    '{"a":[-0,0,-0.50,1E+2,1e-7,-9007199254740993]}',
    '{"a":[-0,0,-0.50,1E+2,1e-7,-9007199254740993]}',
  ],
  [
    '{"b":"1.0 and -0","a":[999999999999999,1e400]}',
    '{"a":[999999999999999,1e400],"b":"1.0 and -0"}',
  ],
  ['{"a":1,"a":2}', '{"a":2}'],
  ['{"__proto__":{"b":1},"a":[]}', '{"__proto__":{"b":1},"a":[]}'],
  ['{"a":"\\u0041\\n"}', '{"a":"A\\n"}'],
  ["{}", "{}"],
])("the canonical form of %s is %s", (text, form) => {
  expect(formOf(text)).toBe(form);
});

it.each([
  ['{"a":[1]}', '{"a":{"0":1}}'],
  ['{"a":[]}', '{"a":{}}'],
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":1}', '{"a":{"text":"1"}}'],
  ['{"a":null}', "{}"],
  ['{"a":"null"}', '{"a":null}'],
  ['{"a":[1,2]}', '{"a":[2,1]}'],
  ['{"a":{"b":1},"c":2}', '{"a":{"b":1,"c":2}}'],
])("the canonical form of %s differs from that of %s", (one, other) => {
  expect(formOf(one)).not.toBe(formOf(other));
});

it("names that are spelled with a backslash stay as written, whatever was parsed before", () => {
  const [backslash, feed] = ['{"a":1,"\\\\":1}', '{"a":1,"\\n":1}'];
  for (let time = 0; time < 3; time += 1)
    expect([formOf(backslash), formOf(feed)]).toEqual([backslash, feed]);
});

it("a canonical form is JSON of the same value, and its own canonical form", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!mayEscapeNames(text));
      const form = formOf(text);
      expect(JSON.parse(form)).toEqual(JSON.parse(text));
      expect(formOf(form)).toBe(form);
      expect(formOf(JSON.stringify(value, null, 2))).toBe(form);
    }),
  );
});

it("a long list of tokens takes a fraction of the time that a reviver takes", () => {
  const text = JSON.stringify({ input: Array.from({ length: 200_000 }, (_, at) => at % 10) });
  const bytes = Buffer.from(text);
  const shortest = (work: () => unknown): number =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const beganMs = performance.now();
        work();
        return performance.now() - beganMs;
      }),
    );
  const revivedMs = shortest(() => JSON.parse(text, (_name, value: unknown) => value));
  expect(shortest(() => canonicalJson(bytes))).toBeLessThan(revivedMs / 2);
});

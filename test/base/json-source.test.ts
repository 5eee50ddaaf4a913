/**
 * Unchanged members are sent in the caller's own bytes. For any document and change, the bytes parse to the same value as a
 * newly written text. A document that could be read in two ways is written anew. TXT-07 to TXT-11.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isObject, readJson, type WireObject } from "../../src/base/json.ts";
import { parseJsonText } from "../../src/base/json-text.ts";
import { JsonSource } from "../../src/base/json-source.ts";
import { writeParts, type JsonPieces } from "../../src/base/json-write.ts";

const sourceOf = (text: string): JsonSource => new JsonSource(readJson(Buffer.from(text)));

const textOf = (written: JsonPieces): string =>
  typeof written === "string" ? written : Buffer.concat(written).toString("utf8");

/** The text to send, and whether it was written anew. Writing in parts gives the same text. */
function sent(source: JsonSource, changed: WireObject): { text: string; isAnew: boolean } {
  const text = textOf(source.write(changed));
  expect(textOf(writeParts(source.parts(changed)))).toBe(text);
  return { text, isAnew: !source.keepsBytes };
}

const blank = fc.constantFrom("", "", "", " ", "\n", "\t \r\n");
const usual = ["a", "b", "c", "d", "model", "stream", "é", "🏔", "a,b", "{", "]", "toJSON", ":"];
const odd = ["7", "07", "-1", "", "__proto__", 'q"', "\\", "\u2028", "\ud83c", "4294967295"];
const names = [...usual, ...usual, ...usual, ...usual, ...odd];

/** A JSON string in one of its spellings. */
const stringText = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(value, fc.constantFrom(false, false, false, false, false, false, true))
    .map(([text, escape]) => (escape ? `"${escaped(text)}"` : JSON.stringify(text)));
const escaped = (text: string): string =>
  text
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
const anyString = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(...names, '{"a":[1,"\\""]}', '\\"'.repeat(80), "x".repeat(300), "\\".repeat(150)),
  fc.constant(`${"x".repeat(200)}\\"${"y".repeat(200)}"`),
);
const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom("-0", "1.0", "1e2", "1E+2", "12345678901234567890", "0.10000000000000000001"),
);

/** Texts of JSON values in any legal spelling, with names that may occur twice. */
const { value: valueText } = fc.letrec<{ value: string; members: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("null", "true", "false", "[]", "{}", "[ ]", "{ }"),
    numberText,
    stringText(anyString),
    fc.array(fc.tuple(blank, tie("value"), blank), { maxLength: 4 }).map((items) => {
      return `[${items.map((item) => item.join("")).join(",")}]`;
    }),
    tie("members").map((text) => `{${text}}`),
  ),
  members: fc
    .array(
      fc.tuple(
        blank,
        stringText(fc.constantFrom(...names)),
        fc.constant(" :"),
        tie("value"),
        blank,
      ),
      { maxLength: 5 },
    )
    .map((members) => members.map((member) => member.join("")).join(",")),
}));
const objectText = fc
  .array(fc.tuple(blank, stringText(fc.constantFrom(...names)), fc.constant(":"), valueText, blank))
  .map((members) => `{${members.map((member) => member.join("")).join(",")}}`);
const documentText = fc.tuple(blank, objectText, blank).map((parts) => parts.join(""));

/** Values without names that V8 may read wrongly in this test itself. */
const plainValue = fc
  .jsonValue({ maxDepth: 2 })
  .filter((value) => !JSON.stringify(value).includes("\\"));

/** Changes as routes make them: members removed, replaced or added. All others are shared. */
const change = fc.array(
  fc.tuple(
    fc.constantFrom("out", "replaced", "added"),
    fc.nat(),
    fc.oneof(plainValue, fc.constant(undefined)),
  ),
  { maxLength: 3 },
);
type Change = typeof change extends fc.Arbitrary<infer Made> ? Made : never;

function changedBy(value: WireObject, changes: Change): WireObject {
  const copy = { ...value };
  for (const [kind, at, other] of changes) {
    const keys = Object.keys(copy);
    const name = kind === "added" ? `new ${at}` : keys[at % keys.length];
    if (name === undefined || name === "__proto__") continue;
    if (kind === "out") delete copy[name];
    else copy[name] = other;
  }
  return copy;
}

/** True if an object of the text has a member twice: then fewer members are read than were written. */
function namesTwice(text: string): boolean {
  let read = 0;
  JSON.parse(text, (_key, value: unknown) => {
    if (isObject(value)) read += Object.keys(value).length;
    return value;
  });
  const strings = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/gs)];
  return strings.filter(([, colon]) => colon !== undefined).length !== read;
}

const runs = { numRuns: 2_000 };

describe("a body that is forwarded with changes", () => {
  it("parses to the same value as a newly written text", () => {
    let kept = 0;
    fc.assert(
      fc.property(documentText, change, (text, changes) => {
        const source = sourceOf(text);
        const changed = changedBy(source.value, changes);
        const { text: out, isAnew } = sent(source, changed);
        // Discarded values are parsed again, without loss.
        source.discardDerived();
        expect(sent(source, changedBy(source.value, changes))).toEqual({ text: out, isAnew });
        // The order of members is kept too.
        expect(JSON.stringify(parseJsonText(out))).toBe(JSON.stringify(changed));
        if (!isAnew) kept += 1;
      }),
      runs,
    );
    expect(kept).toBeGreaterThan(200);
  });

  it("is written anew if a member is named twice on any level, so that the upstream reads what was checked", () => {
    fc.assert(
      fc.property(documentText, (text) => {
        const source = sourceOf(text);
        fc.pre(namesTwice(text));
        expect(sent(source, source.value).isAnew).toBe(true);
      }),
      runs,
    );
    for (const text of ['{"a":1,"a":2}', '{"b":[{"a":[],"a":{}}]}', '{"b":{"a":1,"\\u0061":1}}'])
      expect(sent(sourceOf(text), sourceOf(text).value).isAnew).toBe(true);
  });

  it("is written anew if a name is spelled with a backslash, which V8 may read as another name", () => {
    // An earlier caller's name that V8 has cached.
    JSON.parse('{"a":1,"\\\\u006":1}');
    const text = '{"a":1,"\\u006dodel":"theirs"}';
    const source = sourceOf(text);
    const out = sent(source, { ...source.value, a: 2 });
    expect(out.isAnew).toBe(true);
    expect(JSON.stringify(JSON.parse(out.text))).toBe(JSON.stringify({ ...source.value, a: 2 }));
    expect(sent(sourceOf('{"a":"\\u006d","b":"\\\\"}'), { a: 1 }).isAnew).toBe(false);
  });

  it.each([
    ["a name that is spelled with a backslash", String.raw`"gr\u00f6\u00dfe":1`],
    ["a member that is named twice", '"n":1,"n":2'],
  ])("CONV-713: keeps the digits of long numbers, with %s", (_what, member) => {
    const numbers = "[9223372036854775807,-0.0,0.123456789012345678901]";
    const source = sourceOf(
      `{"m":[{${member},"of":${numbers}}],"seed":12345678901234567890,"a":1}`,
    );
    const { text, isAnew } = sent(source, { ...source.value, a: 2 });
    expect(isAnew).toBe(true);
    expect(text).toContain(`"of":${numbers}`);
    expect(text).toContain('"seed":12345678901234567890,"a":2');
  });

  it("keeps every byte of unchanged members, including numbers that no double holds", () => {
    const kept =
      '"seed":12345678901234567890, "t" : 1.0,"text":"\\u00e9 é \\/","list":[ 1e2 ,{ } ]';
    const source = sourceOf(`{"model":"mine",${kept},"service_tier":"x" }`);
    for (let time = 0; time < 2; time += 1) {
      const { service_tier: _out, ...rest } = source.value;
      const out = sent(source, { ...rest, model: "theirs", added: { x: 1 } });
      expect(out).toEqual({
        text: `{"model":"theirs",${kept},"added":{"x":1}}`,
        isAnew: false,
      });
      source.discardDerived();
    }
  });

  it.each([
    ["the byte order mark in front", "\ufeff", { b: 1 }, '{"b":1}'],
    ["all members gone", "", {}, "{}"],
    ["one left", "", { a: "x" }, '{"a":"x"}'],
  ])("is written correctly with %s", (_name, mark, changed, text) => {
    expect(sent(sourceOf(`${mark} {"a":"x" ,"b":1} `), changed).text.replace(" ", "")).toBe(text);
  });

  it.each([
    ["short and ASCII", "x", "string"],
    ["short and of other characters", "é", "object"],
    ["long", "x".repeat(16 * 1024), "object"],
  ])("has the same text as a string or as bytes: %s", (_name, text, kind) => {
    const source = sourceOf(`{"model":"mine", "text" : "${text}","n":1.0}`);
    const changed = { ...source.value, model: "theirs" };
    expect(typeof source.write(changed)).toBe(kind);
    expect(sent(source, changed).text).toBe(`{"model":"theirs", "text" : "${text}","n":1.0}`);
  });
});

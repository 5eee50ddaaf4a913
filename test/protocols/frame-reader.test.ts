// T16, T17: the reader compares each frame with the one before. It reads exactly the same as parsing each would: all recorded
// streams, randomly damaged frames, and values of every kind.
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createSseParser } from "../../src/base/sse.ts";
import { varying as chat } from "../../src/protocols/chat/varying.ts";
import { FrameReader, type Varying } from "../../src/protocols/frame-reader.ts";
import { varying as generateContent } from "../../src/protocols/generate-content/varying.ts";
import { varying as messages } from "../../src/protocols/messages/varying.ts";
import { parseObject } from "../../src/protocols/read.ts";
import { varying as responses } from "../../src/protocols/responses/varying.ts";
import { caseNames, readTranscript } from "../transcripts/transcript.ts";

const protocols = { chat, responses, messages, generate_content: generateContent } as const;
type Name = keyof typeof protocols;
const names = Object.keys(protocols) as Name[];

/** The data of every frame of every recorded stream, one list a stream. */
function recorded(name: Name): string[][] {
  return caseNames().map((one) => {
    const parser = createSseParser();
    const { stream } = readTranscript(one).exchanges[name];
    return [...parser.push(stream), ...parser.end()].map(({ data }) => data);
  });
}

/** The values that a reader returns for successive frames, with their JSON to compare the order of members. */
function readAll(frames: readonly string[], varying: Varying): unknown[] {
  const reader = new FrameReader(varying);
  return frames.map((frame) => {
    const value = reader.read(frame);
    return [JSON.stringify(value), structuredClone(value)];
  });
}

const parseAll = (frames: readonly string[]): unknown[] =>
  frames.map((frame) => [JSON.stringify(parseObject(frame)), parseObject(frame)]);

describe.each(names)("the frame reader of %s", (name) => {
  const varying = protocols[name];
  const streams = recorded(name);

  it("reads each recorded stream as JSON.parse does", () => {
    for (const frames of streams) expect(readAll(frames, varying)).toEqual(parseAll(frames));
  });

  it("reads each frame sent twice as JSON.parse does", () => {
    const twice = streams.flat().flatMap((frame) => [frame, frame]);
    expect(readAll(twice, varying)).toEqual(parseAll(twice));
  });

  it("reads randomly damaged frames as JSON.parse does", () => {
    const frames = streams.flat();
    const damage = fc.record({
      frame: fc.nat(frames.length - 1),
      at: fc.nat(400),
      cut: fc.nat(3),
      put: fc.constantFrom(
        "",
        '"',
        "\\",
        "\\u12",
        "\n",
        "\0",
        "0",
        "-",
        ".5",
        "e9",
        "{",
        "}",
        ",",
        "é",
        " ",
      ),
    });
    fc.assert(
      fc.property(fc.array(damage, { maxLength: 20 }), (damages) => {
        const said = damages.flatMap(({ frame, at, cut, put }) => {
          const text = frames[frame]!;
          const place = at % (text.length + 1);
          return [text, text.slice(0, place) + put + text.slice(place + cut), text];
        });
        expect(readAll(said, varying)).toEqual(parseAll(said));
      }),
      { numRuns: 300 },
    );
  });
});

const varying: Varying = { texts: ["text", "more"], numbers: ["count"] };

describe("the frame reader for values of every kind", () => {
  it("reads any text and any number, in any spelling", () => {
    const written = fc
      .string({ unit: fc.constantFrom("a", "é", "😀", '"', "\\", "\n", "\u2028", "\ud800", "/") })
      .map((text) => JSON.stringify(text).replaceAll("a", "\\u0061").replaceAll("/", "\\/"));
    const number = fc.oneof(
      fc.nat().map(String),
      fc.double({ noNaN: true }).map((one) => JSON.stringify(one)),
    );
    const odd = fc.constantFrom(
      "null",
      "true",
      "{}",
      "[]",
      "01",
      "1e3",
      "1.0",
      "-0",
      "",
      "'a'",
      '"\\x"',
      '"\t"',
    );
    const value = fc.oneof(
      { weight: 5, arbitrary: written },
      { weight: 3, arbitrary: number },
      odd,
    );
    const frame = fc
      .tuple(value, value, value, fc.constantFrom("", " "))
      .map(
        ([text, count, more, gap]) =>
          `{"a":[{"text":${gap}${text}}],"count":${count}${gap},"b":{"more":${more}}}`,
      );
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 30 }), (frames) => {
        expect(readAll(frames, varying)).toEqual(parseAll(frames));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["a repeated name", '{"text":"x","text":"yy"}'],
    ["a name within a text", '{"a":"\\"text\\":\\"b\\"","text":"c"}'],
    ["a name at the end of a longer one", '{"a\\"text":"b"}'],
    ["a name that is a value", '{"a":"text","b":["text","c"]}'],
    [
      "a number that equals one of the reader's marks",
      '{"text":"718281828459045","b":718281828459045,"c":"718281828459046"}',
    ],
    ["a __proto__ member", '{"__proto__":{"text":"b"},"text2":1}'],
    ["a list", '[{"text":"b"}]'],
  ])("reads %s as JSON.parse does", (_, frame) => {
    const frames = [frame, frame.replace('"b"', '"other"'), frame];
    expect(readAll(frames, varying)).toEqual(parseAll(frames));
  });

  it("is not affected by another stream's reader", () => {
    const [one, other] = [new FrameReader(varying), new FrameReader(varying)];
    const first = one.read('{"text":"one"}');
    other.read('{"text":"other"}');
    expect(first).toEqual({ text: "one" });
  });
});

describe("the cost of the frame reader", () => {
  /** The number of `JSON.parse` calls during `work`. */
  function parses(work: () => void): number {
    const parse = vi.spyOn(JSON, "parse");
    work();
    const { length } = parse.mock.calls;
    parse.mockRestore();
    return length;
  }

  it("is one parse for frames that differ in a few letters", () => {
    const reader = new FrameReader(varying);
    const read = (): void => {
      for (let count = 0; count < 1_000; count += 1) {
        const frame = `{"id":"x","a":[{"text":"word${count}"}],"count":${count}}`;
        expect(reader.read(frame)).toEqual({ id: "x", a: [{ text: `word${count}` }], count });
      }
    };
    expect(parses(read)).toBe(1);
  });

  it("is hardly more than a parse a frame, if no frame is like another", () => {
    const reader = new FrameReader(varying);
    const read = (): void => {
      for (let count = 0; count < 1_000; count += 1) reader.read(`{"id":"${count}","text":"word"}`);
    };
    expect(parses(read)).toBeLessThan(1_000 + 50);
  });
});

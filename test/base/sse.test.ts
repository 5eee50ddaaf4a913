// Server-sent events: the parser at every edge of the grammar and at every cut, the writer, the size bound.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createSseParser,
  formatSse,
  type SseEvent,
  SseOverflowError,
  sseKeepAlive,
} from "../../src/base/sse.ts";
import { costMs } from "../support/cost.ts";
import { heldBytes } from "../support/held-bytes.ts";

/** The events of a stream that arrives in these pieces, including those pending at its end. */
function parse(...pieces: (string | Uint8Array)[]): SseEvent[] {
  const parser = createSseParser();
  const events = pieces.flatMap((piece) =>
    parser.push(typeof piece === "string" ? Buffer.from(piece) : piece),
  );
  return [...events, ...parser.end()];
}

describe("an SSE event", () => {
  it.each<[name: string, text: string, events: SseEvent[]]>([
    ["data alone", "data: a\n\n", [{ data: "a" }]],
    ["data with an event name", "event: ping\ndata: a\n\n", [{ event: "ping", data: "a" }]],
    ["the name after the data", "data: a\nevent: ping\n\n", [{ event: "ping", data: "a" }]],
    ["the last of two names", "event: a\nevent: b\ndata: x\n\n", [{ event: "b", data: "x" }]],
    ["no space after the colon", "data:a\n\n", [{ data: "a" }]],
    ["only the first space is taken off", "data:  a \n\n", [{ data: " a " }]],
    ["a tab is not taken off", "data:\ta\n\n", [{ data: "\ta" }]],
    ["several data lines are joined by a line feed", "data: a\ndata: b\n\n", [{ data: "a\nb" }]],
    ["empty data", "data:\n\n", [{ data: "" }]],
    ["data without a colon", "data\n\n", [{ data: "" }]],
    ["two lines of nothing", "data\ndata\n\n", [{ data: "\n" }]],
    ["a colon in the value", "data: a: b\n\n", [{ data: "a: b" }]],
    ["a name without data is no event", "event: ping\n\n", []],
    ["such a name does not reach the next event", "event: a\n\ndata: x\n\n", [{ data: "x" }]],
    ["a comment", ": hello\ndata: a\n\n", [{ data: "a" }]],
    ["a comment alone", ": keep-alive\n\n", []],
    ["id, retry and unknown fields", "id: 1\nretry: 9\nfoo: x\ndata: a\n\n", [{ data: "a" }]],
    ["a field that only begins like data", "database: x\n\n", []],
    ["a field name with a capital", "Data: x\n\n", []],
    ["a space before the field", " data: x\n\n", []],
    ["blank lines between events", "data: a\n\n\n\ndata: b\n\n", [{ data: "a" }, { data: "b" }]],
    ["no bytes at all", "", []],
  ])("is parsed correctly: %s", (_name, text, events) => {
    expect(parse(text)).toEqual(events);
  });
});

it.each([
  ["nothing", "", false],
  ["a whole event", "data: a\n\n", false],
  ["half a comment", ": pi", false],
  ["a comment", ": ping\n", false],
  ["half a line", "data: a", true],
  ["a line without its blank one", "data: a\n", true],
  ["a comment within an event", "data: a\n: ping", true],
])("after %s, the parser reports correctly whether an event is open", (_name, text, isOpen) => {
  const parser = createSseParser();
  parser.push(Buffer.from(text));
  expect(parser.isWithinEvent).toBe(isOpen);
});

describe("line ends", () => {
  it.each([
    ["line feed", "\n"],
    ["carriage return and line feed", "\r\n"],
    ["carriage return", "\r"],
  ])("may be %s", (_name, end) => {
    expect(parse(["event: x", "data: a", "data: b", "", "data: c", "", ""].join(end))).toEqual([
      { event: "x", data: "a\nb" },
      { data: "c" },
    ]);
  });

  it("may be mixed", () => {
    expect(parse("data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\r")).toEqual([
      { data: "a\nb\nc" },
      { data: "d" },
    ]);
  });

  it("may be split: a carriage return and its line feed in two chunks are one line end", () => {
    expect(parse("data: a\r", "\ndata: b\r", "\n\r", "\n")).toEqual([{ data: "a\nb" }]);
  });

  it("complete an event at its blank line, although a line feed may still follow", () => {
    const parser = createSseParser();
    expect(parser.push(Buffer.from("data: a\r\r"))).toEqual([{ data: "a" }]);
    expect(parser.push(Buffer.from("\ndata: b\n\n"))).toEqual([{ data: "b" }]);
  });

  it("do not include U+2028 and U+2029", () => {
    expect(parse("data: a\u2028b\u2029c\n\n")).toEqual([{ data: "a\u2028b\u2029c" }]);
  });
});

describe("chunks of a stream", () => {
  it("T17: give several events if one chunk has several frames", () => {
    expect(parse("data: 1\n\ndata: 2\n\ndata: 3\n\n").map(({ data }) => data)).toEqual([
      "1",
      "2",
      "3",
    ]);
  });

  it("T17: may cut a frame inside a UTF-8 character", () => {
    const bytes = Buffer.from("data: 汉€😀é\n\n");
    for (let cut = 1; cut < bytes.length; cut += 1) {
      expect(parse(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual([{ data: "汉€😀é" }]);
    }
  });

  it("T17: give the same events at any cuts, including empty chunks", () => {
    const line = fc.oneof(
      fc.constantFrom("", "data", "data:", "event: e", ": c", "id: 1", "data: [DONE]", "datax: 1"),
      fc.string({ unit: "binary" }).map((text) => `data: ${text}`),
    );
    const streams = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(streams, fc.array(fc.nat(), { maxLength: 20 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map(([text, end]) => text + end).join(""));
        const places = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b);
        const pieces = [...places, bytes.length].map((to, index) =>
          bytes.subarray(index === 0 ? 0 : places[index - 1], to),
        );
        expect(parse(...pieces)).toEqual(parse(bytes));
        expect(parse(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(parse(bytes));
      }),
    );
  });
});

describe("the start and the end of a stream", () => {
  it("skip a byte order mark at the start, even if it comes in pieces", () => {
    expect(parse("\ufeffdata: a\n\n")).toEqual([{ data: "a" }]);
    expect(parse(Uint8Array.of(0xef), Uint8Array.of(0xbb, 0xbf), "data: a\n\n")).toEqual([
      { data: "a" },
    ]);
  });

  it("treat a later byte order mark as an ordinary character", () => {
    expect(parse("data: a\n\n\ufeffdata: b\n\n")).toEqual([{ data: "a" }]);
  });

  it("give an event without its blank line at the end", () => {
    expect(parse("data: a\n")).toEqual([{ data: "a" }]);
    expect(parse("event: x\ndata: a")).toEqual([{ event: "x", data: "a" }]);
  });

  it("replace a character that is cut off at the end, and keep its event", () => {
    expect(parse("data: a", Uint8Array.of(0xe2, 0x82))).toEqual([{ data: "a\ufffd" }]);
  });

  it("give nothing at the end if no event is open, or if the end was already read", () => {
    const parser = createSseParser();
    parser.push(Buffer.from("data: a\n\n"));
    expect(parser.end()).toEqual([]);
    parser.push(Buffer.from("data: b"));
    expect(parser.end()).toEqual([{ data: "b" }]);
    expect(parser.end()).toEqual([]);
  });
});

describe("the size limit of an event", () => {
  it("is exceeded by a line without an end", () => {
    const parser = createSseParser(100);
    const push = () => parser.push(Buffer.from("x".repeat(60)));
    expect(push()).toEqual([]);
    expect(push).toThrow(SseOverflowError);
  });

  it("is exceeded by many data lines without a blank line", () => {
    const parser = createSseParser(100);
    expect(() => {
      for (let count = 0; count < 20; count += 1) parser.push(Buffer.from("data: 12345678\n"));
    }).toThrow(SseOverflowError);
  });

  it.each([
    ["in one read", 1],
    ["in many", 100],
  ])("is exceeded by millions of empty lines, %s", (_name, reads) => {
    const parser = createSseParser();
    const lines = Buffer.from("data:\n".repeat(2_000_000 / reads));
    expect(() => {
      for (let count = 0; count < reads; count += 1) parser.push(lines);
    }).toThrow(SseOverflowError);
  });

  it("includes the name of the event", () => {
    const parser = createSseParser(100);
    parser.push(Buffer.from(`event: ${"x".repeat(60)}\n`));
    expect(parser.heldBytes).toBe(60);
    expect(() => parser.push(Buffer.from(`data: ${"x".repeat(60)}\n`))).toThrow(SseOverflowError);
  });

  const comment = `: ${"x".repeat(60_000)}\n`;
  it.each([
    [
      "events that are kept",
      `${comment}event: a long name of an event\ndata: twenty characters.\n\n`,
    ],
    ["lines of an incomplete event", `${comment}data: twenty characters.\n`],
    ["events that end in the next chunk", `\n${comment}data: twenty characters.\n`],
  ])("covers the memory of %s: long comments between them are not held", (_name, chunk) => {
    const parser = createSseParser();
    const before = heldBytes();
    const kept: SseEvent[] = [];
    for (let count = 0; count < 500; count += 1) kept.push(...parser.push(Buffer.from(chunk)));
    // The comments are 30 MB.
    expect(heldBytes() - before).toBeLessThan(5e6);
    expect(kept.length + parser.heldBytes).toBeGreaterThan(450);
  });

  it("applies to each event: any number of smaller ones pass", () => {
    const parser = createSseParser(100);
    const frame = Buffer.from(`data: ${"x".repeat(80)}\n\n`);
    let seen = 0;
    for (let count = 0; count < 1000; count += 1) seen += parser.push(frame).length;
    expect(seen).toBe(1000);
  });

  it("keeps reading linear: a line of 20 MB in pieces of 64 bytes is read in seconds", async () => {
    const parser = createSseParser();
    const piece = Buffer.from("x".repeat(64));
    let length = 0;
    const read = () => {
      parser.push(Buffer.from("data: "));
      for (let count = 0; count < 320_000; count += 1) parser.push(piece);
      const [event] = parser.push(Buffer.from("\n\n"));
      length = event!.data.length;
    };
    // About 0.1 s; joining the pieces anew at each push would copy 3 TB.
    expect(await costMs(read)).toBeLessThan(10_000);
    expect(length).toBe(64 * 320_000);
  });
});

describe("the writer of frames", () => {
  it("writes the lines of a frame and a blank one", () => {
    expect(formatSse({ data: "a" })).toBe("data: a\n\n");
    expect(formatSse({ event: "ping", data: "{}" })).toBe("event: ping\ndata: {}\n\n");
  });

  it("gives each line of the data its own prefix", () => {
    expect(formatSse({ data: "a\nb\n" })).toBe("data: a\ndata: b\ndata: \n\n");
  });

  it("writes U+2028 and U+2029 as JSON escapes, which read back unchanged", () => {
    const value = { text: "a\u2028b\u2029c" };
    const frame = formatSse({ data: JSON.stringify(value) });
    expect(frame).toBe('data: {"text":"a\\u2028b\\u2029c"}\n\n');
    expect(JSON.parse(parse(frame)[0]!.data)).toEqual(value);
  });

  it("writes frames that read back unchanged, with any text", () => {
    const texts = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.option(fc.constant("name")), texts)), (pairs) => {
        const events = pairs.map(([event, text]) => {
          const data = JSON.stringify({ text });
          return event === null ? { data } : { event, data };
        });
        const read = parse(events.map(formatSse).join(sseKeepAlive));
        const plain = ({ event, data }: SseEvent) => [event, JSON.parse(data)];
        expect(read.map(plain)).toEqual(events.map(plain));
      }),
    );
  });

  it("T88: writes a keep-alive as a comment, which no reader takes for an event", () => {
    expect(parse(sseKeepAlive, "data: a\n\n", sseKeepAlive)).toEqual([{ data: "a" }]);
  });
});

/** The parsers of answers, without sockets: for any cuts the same content, the same end, the same refusal. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyReader } from "../../src/upstream/http1/body.ts";
import { framingOf } from "../../src/upstream/http1/framing.ts";
import { headBytesMax, parseHead, type Head } from "../../src/upstream/http1/head.ts";

const ok = "HTTP/1.1 200 OK\r\n";
const headOf = (text: string): Head => parseHead(text, 0)!;
const framing = (lines: string, start = ok) => framingOf(headOf(`${start}${lines}\r\n`));

describe("a head", () => {
  it("has names in lower case, trimmed values, and duplicates as Node combines them", () => {
    const text =
      `${ok}Content-Type:application/json\r\nX-A: \t one \r\nx-a: two\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n` +
      "Retry-After: 1\r\nretry-after: 2\r\nEmpty:\r\n__proto__: x\r\nConstructor: y\r\nLatin: \xe9\r\n\r\nrest";
    const { status, minor, headers, end } = headOf(text);
    expect([status, minor, text.slice(end)]).toEqual([200, 1, "rest"]);
    expect(Object.entries(headers)).toEqual([
      ["content-type", "application/json"],
      ["x-a", "one, two"],
      ["set-cookie", ["a=1", "b=2"]],
      ["retry-after", "1"],
      ["empty", ""],
      ["__proto__", "x"],
      ["constructor", "y"],
      ["latin", "\xe9"],
    ]);
  });

  it("may lack its reason phrase and the space before it", () => {
    expect(headOf("HTTP/1.1 529\r\n\r\n").status).toBe(529);
    expect(headOf("HTTP/1.0 200 \r\n\r\n")).toMatchObject({ status: 200, minor: 0 });
  });

  it("is incomplete at every byte before its last", () => {
    const text = `${ok}content-length: 3\r\nx: y\r\n\r\n`;
    for (let end = 0; end < text.length; end += 1)
      expect([end, parseHead(text.slice(0, end), 0)]).toEqual([end, undefined]);
    expect(parseHead(text, 0)?.end).toBe(text.length);
  });

  it.each([
    ["220 smtp.example.com ESMTP\r\n"],
    ["HTTP/2.0 200 OK\r\n\r\n"],
    ["HTTP/1.1 20 OK\r\n\r\n"],
    ["HTTP/1.1 2000 OK\r\n\r\n"],
    ["HTTP/1.1 200OK\r\n\r\n"],
    ["HTTP/1.1 099 OK\r\n\r\n"],
    ["HTTP/1.1\t200 OK\r\n\r\n"],
    [" HTTP/1.1 200 OK\r\n\r\n"],
    ["\r\nHTTP/1.1 200 OK\r\n\r\n"],
    ["HTTP/1.1 200 OK\nx: y\r\n\r\n"],
    ["HTTP/1.1 200 O\rK\r\n\r\n"],
    [`${ok}x: y\nz: a\r\n\r\n`],
    [`${ok}x: y\rz: a\r\n\r\n`],
    [`${ok}x: y\0z\r\n\r\n`],
    [`${ok}x: y\x7f\r\n\r\n`],
    [`${ok}x: y\r\n folded\r\n\r\n`],
    [`${ok}x : y\r\n\r\n`],
    [`${ok}: y\r\n\r\n`],
    [`${ok}no colon\r\n\r\n`],
    [`${ok}caf\xe9: y\r\n\r\n`],
    [`${ok}x: y\r\n\rz`],
    [`${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n`],
  ])("is refused if it is invalid: %j", (text) => {
    expect(() => parseHead(text, 0)).toThrow(/no HTTP|control|name|differ/);
  });

  it("has a size limit, complete or not", () => {
    const fill = (length: number) => `${ok}x: ${"y".repeat(length - ok.length - 3 - 4)}\r\n\r\n`;
    expect(headOf(fill(headBytesMax)).end).toBe(headBytesMax);
    expect(() => parseHead(fill(headBytesMax + 1), 0)).toThrow("longer than");
    expect(() => parseHead(fill(headBytesMax + 9).slice(0, headBytesMax + 1), 0)).toThrow("longer");
  });

  it("with random fields is parsed as written", () => {
    const name = fc.stringMatching(/^x-[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,12}$/);
    const value = fc.stringMatching(/^([!-~]([ -~]{0,20}[!-~])?)?$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, value), { selector: ([n]) => n.toLowerCase() }),
        (fields) => {
          const text = `${ok}${fields.map(([n, v]) => `${n}: ${v}\r\n`).join("")}\r\n`;
          const expected = fields.map(([n, v]) => [n.toLowerCase(), v]);
          expect(Object.entries(headOf(text).headers)).toEqual(expected);
        },
      ),
    );
  });
});

describe("the framing", () => {
  it.each([
    ["content-length: 12\r\n", { kind: "length", length: 12, idleMs: 30_000 }],
    [
      "content-length: 12\r\ncontent-length: 12\r\n",
      { kind: "length", length: 12, idleMs: 30_000 },
    ],
    ["content-length: 0\r\n", { kind: "none", length: 0, idleMs: 30_000 }],
    ["transfer-encoding: Chunked\r\n", { kind: "chunked", length: 0, idleMs: 30_000 }],
    ["", { kind: "close", length: 0, idleMs: 0 }],
    ["content-length: 1\r\nconnection: foo, Close\r\n", { kind: "length", length: 1, idleMs: 0 }],
    ["content-length: 1\r\nconnection: closed\r\n", { kind: "length", length: 1, idleMs: 30_000 }],
    [
      "content-length: 1\r\nkeep-alive: timeout=5, max=9\r\n",
      { kind: "length", length: 1, idleMs: 3_000 },
    ],
    [
      "content-length: 1\r\nkeep-alive: timeout=600\r\n",
      { kind: "length", length: 1, idleMs: 30_000 },
    ],
    ["content-length: 1\r\nkeep-alive: timeout=1\r\n", { kind: "length", length: 1, idleMs: 0 }],
  ])("is read from %j", (lines, expected) => {
    expect(framing(lines)).toEqual(expected);
  });

  it("follows the status without a body, and HTTP/1.0", () => {
    const none = { kind: "none", length: 0 };
    expect(framing("", "HTTP/1.1 204 No Content\r\n")).toEqual({ ...none, idleMs: 30_000 });
    expect(framing("content-length: 5\r\n", "HTTP/1.1 304 No\r\n")).toEqual({ ...none, idleMs: 0 });
    expect(
      framing("content-length: 5\r\nconnection: keep-alive\r\n", "HTTP/1.0 200 OK\r\n"),
    ).toEqual({
      kind: "length",
      length: 5,
      idleMs: 0,
    });
  });

  it.each([
    ["content-length: 5\r\ntransfer-encoding: chunked\r\n"],
    ["transfer-encoding: gzip, chunked\r\n"],
    ["transfer-encoding: identity\r\n"],
    ["transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n"],
    ["content-length: +5\r\n"],
    ["content-length: 5, 5\r\n"],
    ["content-length: 0x5\r\n"],
    ["content-length:\r\n"],
    ["content-length: 9999999999999999\r\n"],
  ])("is refused if it is ambiguous: %j", (lines) => {
    expect(() => framing(lines)).toThrow(/length|coding/);
  });

  it("refuses chunks in HTTP/1.0", () => {
    expect(() => framing("transfer-encoding: chunked\r\n", "HTTP/1.0 200 OK\r\n")).toThrow("1.0");
  });
});

/** Reads a body in pieces. Returns its content with the number of bytes after it, or its fault. */
function read(bytes: Buffer, cuts: readonly number[], lines: string) {
  const reader = new BodyReader();
  reader.begin(framing(lines));
  const edges = [
    ...new Set([0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length]),
  ].sort((a, b) => a - b);
  const content: string[] = [];
  for (const [index, from] of edges.entries()) {
    if (index === edges.length - 1) break;
    // Put the piece into a larger buffer, like a socket read. It is a copy, because the reader moves bytes.
    const piece = bytes.subarray(from, edges[index + 1]);
    const buffer = Buffer.concat([Buffer.from("##"), piece, Buffer.from("##")]);
    reader.take(buffer, 2, 2 + piece.length);
    content.push(buffer.toString("latin1", reader.from, reader.to));
    if (reader.fault !== undefined) return { content: content.join(""), fault: reader.fault };
    if (reader.end !== -1) return { content: content.join(""), end: from + reader.end - 2 };
  }
  return { content: content.join("") };
}

const chunkedLine = "transfer-encoding: chunked\r\n";
const each = (bytes: Buffer) => Array.from({ length: bytes.length }, (_, index) => index);

describe("a body", () => {
  const extension = fc.constantFrom("", ";a", ";a=b", ' ; a="b c"');
  const trailers = fc.constantFrom("", "x: y\r\n", "x-a: b\r\nx-b:\r\n");
  const spelled = (size: number, upper: boolean) =>
    upper ? `0${size.toString(16).toUpperCase()}` : size.toString(16);

  it("in chunks is read the same for any cuts, and ends at its last byte", () => {
    const chunk = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.boolean(), extension);
    const cuts = fc.array(fc.nat(400));
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), trailers, cuts, (chunks, tail, at) => {
        const parts = chunks.map(([data, upper, after]) =>
          Buffer.concat([
            Buffer.from(`${spelled(data.length, upper)}${after}\r\n`),
            data,
            Buffer.from("\r\n"),
          ]),
        );
        const whole = Buffer.concat([...parts, Buffer.from(`0\r\n${tail}\r\n`)]);
        const bytes = Buffer.concat([whole, Buffer.from("HTTP/1.1 more")]);
        const content = Buffer.concat(chunks.map(([data]) => data)).toString("latin1");
        expect(read(bytes, at, chunkedLine)).toEqual({ content, end: whole.length });
        expect(read(bytes, each(bytes), chunkedLine)).toEqual({ content, end: whole.length });
      }),
    );
  });

  it("with a length is read the same for any cuts", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 60 }),
        fc.array(fc.nat(80)),
        (data, cuts) => {
          const bytes = Buffer.concat([data, Buffer.from("more")]);
          const expected = { content: Buffer.from(data).toString("latin1"), end: data.length };
          expect(read(bytes, cuts, `content-length: ${data.length}\r\n`)).toEqual(expected);
        },
      ),
    );
  });

  it("with random bytes is refused or read the same for any cuts", () => {
    const piece = fc.constantFrom(
      "0",
      "1",
      "5",
      "a",
      "\r\n",
      "\r",
      "\n",
      ";",
      " ",
      "x:",
      "G",
      "\0",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(30)), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(""));
        expect(read(bytes, cuts, chunkedLine)).toEqual(read(bytes, [], chunkedLine));
      }),
      { numRuns: 500 },
    );
  });

  const broken = [
    "\r\n",
    "x\r\n",
    "-1\r\n",
    "0x5\r\n",
    "5 5\r\nhello",
    "5\nhello",
    "5\rhello",
    "5;a\nb\r\n",
    "5\r\nhelloX",
    "5\r\nhello\rX",
    "5\r\nhello\n5",
    "fffffffffffff\r\n",
    "0\r\nno colon\r\n\r\n",
    "0\r\nx: y\n\r\n",
    "0\r\nx: \0\r\n\r\n",
    "0\r\n\rx",
    `5;${"a".repeat(17_000)}`,
    `0\r\n${"x: y\r\n".repeat(3_000)}`,
  ];
  it.each(broken.map((text) => [text.slice(0, 20), text]))(
    "in invalid chunks is refused: %j",
    (_, text) => {
      const { fault, content } = read(Buffer.from(text), [], chunkedLine);
      expect(fault).toBeDefined();
      expect("hello").toContain(content);
      expect(read(Buffer.from(text), each(Buffer.from(text)), chunkedLine)).toEqual({
        fault,
        content,
      });
    },
  );
});

// Multipart bodies: read strictly, in any pieces; and the bodies of a real client.
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readParts, type PartLimits } from "../../src/http/forms/multipart.ts";
import { boundaryOf } from "../../src/http/forms/multipart-header.ts";
import { costMs } from "../support/cost.ts";

const limits: PartLimits = { parts: 100, headerBytes: 8192 };

/** A body in pieces of these lengths; the last length repeats. */
function* cut(body: Buffer, lengths: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (let index = 0; at < body.length; index += 1) {
    const length = lengths[Math.min(index, lengths.length - 1)]!;
    yield body.subarray(at, at + length);
    at += length;
  }
}

async function parse(
  body: Buffer | string,
  { boundary = "b", pieces = [1 << 16], bounds = limits, read = true } = {},
): Promise<{ name: string; isFile: boolean; filename: string; content: string }[]> {
  const source = Readable.from(cut(Buffer.from(body), pieces)).iterator();
  const parts = [];
  for await (const { content, ...header } of readParts(source, boundary, bounds)) {
    const chunks: Buffer[] = [];
    if (read) for await (const chunk of content) chunks.push(chunk);
    parts.push({ ...header, content: Buffer.concat(chunks).toString("latin1") });
  }
  return parts;
}

const field = (name: string, value: string, boundary = "b") =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const refused = { code: "malformed_request", status: 400 };

describe("a multipart body", () => {
  it("TASK-02: a form that fetch writes is parsed back, for any split into chunks", async () => {
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom("\r\n--", "--", "\r\n", "\r", "-".repeat(70), "\r\n\r\n"),
    );
    const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
    const form = fc.array(fc.tuple(name, value), { maxLength: 6 });
    const pieces = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(form, pieces, async (entries, lengths) => {
        const data = new FormData();
        for (const [key, content] of entries) {
          if (typeof content === "string") data.append(key, content);
          else data.append(key, new Blob([content]), `${key}.png`);
        }
        const answer = new Response(data);
        const boundary = boundaryOf(answer.headers.get("content-type")!);
        const body = Buffer.from(await answer.arrayBuffer());
        const parts = await parse(body, { boundary, pieces: lengths });
        // A form has only one kind of line end.
        const sent = [...data].map(([key]) => key.replace(/\r\n?|\n/g, "%0D%0A"));
        const bytes = (content: string | Uint8Array) =>
          typeof content === "string" ? content.replace(/\r\n?|\n/g, "\r\n") : content;
        expect(parts.map((part) => part.name)).toEqual(sent);
        expect(parts.map((part) => part.content)).toEqual(
          entries.map(([, content]) => Buffer.from(bytes(content)).toString("latin1")),
        );
        expect(parts.map((part) => part.isFile)).toEqual(
          entries.map(([, content]) => typeof content !== "string"),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("content that begins like a boundary is content", async () => {
    const boundary = "----x";
    for (const content of ["\r\n------", "\r\n------y", "\r\n----x", "\r\n------\r\n------ "]) {
      const body = `${field("a", content, boundary)}--${boundary}--`;
      for (const pieces of [[1], [2], [3, 1], [1000]])
        expect(await parse(body, { boundary, pieces })).toMatchObject([{ name: "a", content }]);
    }
  });

  it("preamble, padding and epilogue are skipped, and the reader may skip a part", async () => {
    const body = `ignored\r\n--b \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n${field("c", "2")}--b--\r\nrest`;
    expect(await parse(body)).toMatchObject([{ content: "1" }, { name: "c", content: "2" }]);
    expect(await parse(body, { read: false, pieces: [5] })).toMatchObject([
      { name: "a" },
      { name: "c" },
    ]);
    expect(await parse("--b--")).toEqual([]);
  });

  it.each([
    ["no boundary", "hello"],
    ["no bytes", ""],
    ["no end", field("a", "1")],
    ["an end in the header", "--b\r\nContent-Disposition: form-da"],
    ["an end after the first boundary", "--b"],
    ["a part without a header", "--b\r\n\r\n\r\nvalue\r\n--b--"],
    ["a part without a disposition", "--b\r\nContent-Type: image/png\r\n\r\nvalue\r\n--b--"],
    [
      "a disposition that is not form-data",
      '--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nv\r\n--b--',
    ],
    ["a part without a name", "--b\r\nContent-Disposition: form-data\r\n\r\nv\r\n--b--"],
    ["an empty name", field("", "v") + "--b--"],
    [
      "two names",
      '--b\r\nContent-Disposition: form-data; name="a"; name="image"\r\n\r\nv\r\n--b--',
    ],
    [
      "two dispositions",
      '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="b"\r\n\r\nv\r\n--b--',
    ],
    [
      "a malformed header line",
      '--b\r\nhello\r\nContent-Disposition: form-data; name="a"\r\n\r\nv\r\n--b--',
    ],
    ["a bare line feed", '--b\r\nContent-Disposition: form-data;\n name="a"\r\n\r\nv\r\n--b--'],
    [
      "a transfer encoding",
      '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\nv\r\n--b--',
    ],
    ["text after a boundary", `--bx\r\n${field("a", "1").slice(5)}--b--`],
    ["a long preamble", `${"x".repeat(2000)}\r\n${field("a", "1")}--b--`],
    [
      "a long header",
      `--b\r\nContent-Disposition: form-data; name="a"\r\nX: ${"x".repeat(9000)}\r\n\r\nv\r\n--b--`,
    ],
    ["a header without end", `--b\r\nX: ${"x".repeat(500_000)}`],
    ["too many parts", field("a", "1").repeat(101) + "--b--"],
  ])("with %s is refused instead of read in part", async (_name, body) => {
    for (const pieces of [[1 << 16], [7]])
      await expect(parse(body, { pieces })).rejects.toMatchObject(refused);
  });

  it("names and file names are read with every kind of quotes", async () => {
    const header = (rest: string) =>
      `--b\r\nContent-Disposition: form-data; ${rest}\r\n\r\n\r\n--b--`;
    const cases: [string, object][] = [
      ['name="image[]"; filename="a.png"', { name: "image[]", filename: "a.png", isFile: true }],
      ["name=image; filename=a.png", { name: "image", filename: "a.png", isFile: true }],
      [
        String.raw`name="a\"b"; filename="C:\dir\x.png"`,
        { name: 'a"b', filename: String.raw`C:\dir\x.png` },
      ],
      ['name="a%22b"', { name: 'a"b', isFile: false }],
      ['name="f"; filename=""', { name: "f", filename: "", isFile: true }],
      ["name=\"f\"; filename*=UTF-8''%e2%82%ac.png", { name: "f", isFile: true }],
      ['name="Größe 尺寸"', { name: "Größe 尺寸", isFile: false }],
    ];
    for (const [rest, expected] of cases)
      expect(await parse(header(rest))).toMatchObject([expected]);
  });

  it("a part with the type of a picture is a file even without a file name", async () => {
    const of = (type: string) =>
      parse(
        `--b\r\ncontent-disposition: form-data; name="image"\r\ncontent-type: ${type}\r\n\r\n\r\n--b--`,
      );
    expect(await of("image/png")).toMatchObject([{ isFile: true }]);
    expect(await of("application/octet-stream")).toMatchObject([{ isFile: true }]);
    expect(await of("text/plain; charset=utf-8")).toMatchObject([{ isFile: false }]);
  });

  it("the boundary is read in every spelling, and a type without a valid one is refused", () => {
    expect(boundaryOf("multipart/form-data; boundary=abc")).toBe("abc");
    expect(boundaryOf('multipart/form-data; charset=utf-8; Boundary="a b:c"')).toBe("a b:c");
    for (const type of [
      "multipart/form-data",
      "multipart/form-data; boundary=",
      'multipart/form-data; boundary=""',
      `multipart/form-data; boundary=${"x".repeat(71)}`,
      'multipart/form-data; boundary="ends with space "',
    ])
      expect(() => boundaryOf(type)).toThrow(/boundary/);
  });

  it("a long header of blanks is refused quickly", async () => {
    const body = `--b\r\nX:${"\t".repeat(8_000)}\nY: z\r\n\r\n\r\n--b--`;
    const read = async () => {
      for (let round = 0; round < 60; round += 1)
        await expect(parse(body)).rejects.toMatchObject(refused);
    };
    expect(await costMs(read)).toBeLessThan(300);
  });

  it("a body in one-byte chunks is read quickly", async () => {
    const body = `${field("a", "x".repeat(200_000))}--b--`;
    let parts: Awaited<ReturnType<typeof parse>> = [];
    const read = async () => (parts = await parse(body, { pieces: [1] }));
    expect(await costMs(read)).toBeLessThan(10_000);
    expect(parts[0]!.content).toHaveLength(200_000);
  });
});

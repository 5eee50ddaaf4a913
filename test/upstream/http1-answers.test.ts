/** Answers over real sockets: cut at every byte, malformed in many ways, and compared with Node's own client. */
import * as fc from "fast-check";
import { request as nodeRequest } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import {
  asker,
  startLateSender,
  startRaw,
  resultOf,
  usePools,
  type ExchangeResult,
} from "./http1-support.ts";

const ok = "HTTP/1.1 200 OK\r\n";

/** The result of an answer with these bytes; with `at`, they are sent in two writes. */
async function resultOfBytes(bytes: string, at?: number): Promise<ExchangeResult> {
  const upstream = await startRaw((socket) => {
    if (at === undefined) return void socket.end(bytes, "latin1");
    socket.write(bytes.slice(0, at), "latin1");
    setTimeout(() => socket.end(bytes.slice(at), "latin1"), 3);
  });
  return resultOf(asker(upstream.url)());
}

describe("an answer that arrives in pieces", () => {
  const informed = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
  const whole = [
    ["with a length", `${ok}a: b\r\ncontent-length: 5\r\n\r\nhello`],
    [
      "in chunks",
      `${informed}${ok}transfer-encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nt: u\r\n\r\n`,
    ],
    ["until its connection closes", `${ok}a: b\r\n\r\nhello`],
  ] as const;
  it.each(whole)("is read like a whole one, for any cut: %s", async (_, bytes) => {
    const expected = await resultOfBytes(bytes);
    expect(expected).toMatchObject({ status: 200, body: "hello" });
    const upstream = await startRaw(() => undefined);
    const ask = asker(upstream.url);
    const endsWithConnection = !/content-length|chunked/.test(bytes);
    const finish = (socket: Socket, rest: string) =>
      void (endsWithConnection ? socket.end(rest) : socket.write(rest));
    for (let at = 1; at < bytes.length; at += 1) {
      upstream.answer((socket) => {
        socket.write(bytes.slice(0, at));
        setTimeout(() => finish(socket, bytes.slice(at)), 2);
      });
      expect({ at, ...(await resultOf(ask())) }).toEqual({ at, ...expected });
    }
  });

  it("is read when it comes byte by byte", async () => {
    const upstream = await startRaw((socket) => {
      const bytes = whole[1][1].split("");
      const timer = setInterval(() => socket.write(bytes.shift() ?? ""), 1);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await resultOf(asker(upstream.url)())).toMatchObject({ status: 200, body: "hello" });
  });
});

describe("a bad answer", () => {
  const length = "content-length: 5\r\n";
  const chunked = "transfer-encoding: chunked\r\n";
  const rows: readonly [string, string, ExchangeResult][] = [
    ["no HTTP at all", "220 smtp.example.com ESMTP\r\n", {}],
    ["lines that end in LF alone", "HTTP/1.1 200 OK\ncontent-length: 5\n\nhello", {}],
    ["a folded line", `${ok}a: b\r\n c\r\n${length}\r\nhello`, {}],
    ["a blank before a colon", `${ok}content-length : 5\r\n\r\nhello`, {}],
    ["a NUL in a value", `${ok}a: \0\r\n${length}\r\nhello`, {}],
    ["a length and chunks", `${ok}${length}${chunked}\r\n5\r\nhello\r\n0\r\n\r\n`, {}],
    ["two lengths", `${ok}${length}content-length: 6\r\n\r\nhello`, {}],
    ["a negative length", `${ok}content-length: -1\r\n\r\nhello`, {}],
    ["an unknown coding", `${ok}transfer-encoding: gzip\r\n\r\nhello`, {}],
    ["a change of protocol", "HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n", {}],
    ["a head without an end", `${ok}${"a: b\r\n".repeat(4_000)}`, {}],
    ["nothing but a note", "HTTP/1.1 100 Continue\r\n\r\n", {}],
    ["a cut in the head", `${ok}content-le`, {}],
    ["no answer", "", {}],
    ["a chunk without a size", `${ok}${chunked}\r\nhello`, { status: 200, body: "" }],
    ["a chunk too long", `${ok}${chunked}\r\n4\r\nhello\r\n`, { status: 200, body: "hell" }],
    ["a cut in the chunks", `${ok}${chunked}\r\n5\r\nhello\r\n`, { status: 200, body: "hello" }],
    ["a cut in the body", `${ok}${length}\r\nhel`, { status: 200, body: "hel" }],
  ];
  it.each(rows)("is unreadable, or broken if it was cut: %s", async (name, bytes, known) => {
    for (const at of [undefined, Math.floor(bytes.length / 2)]) {
      const result = await resultOfBytes(bytes, at);
      const failure = /^(a cut|no answer|nothing but)/.test(name) ? "broken" : "unreadable";
      expect(result).toMatchObject({ ...known, failure });
      expect(result.status).toBe(known.status);
    }
  });
});

describe("bytes after the end of an answer", () => {
  it.each([
    ["a length", `${ok}content-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n`],
    ["chunks", `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nmore`],
    ["no body", "HTTP/1.1 204 No Content\r\n\r\nhello"],
  ])("leave the answer valid and close its connection: after %s", async (_, bytes) => {
    const upstream = await startRaw((socket) => void socket.write(bytes));
    const ask = asker(upstream.url);
    for (const connection of [0, 1]) {
      const result = await resultOf(ask());
      expect(result.failure).toBeUndefined();
      expect(["hello", ""]).toContain(result.body);
      expect(upstream.requests.at(-1)!.connection).toBe(connection);
    }
  });

  it("are never taken as the next answer, even if they arrived while the connection was idle", async () => {
    const hello = `${ok}content-length: 5\r\n\r\nhello`;
    const poison = `${ok}content-length: 6\r\n\r\npoison`;
    const upstream = await startLateSender(hello, poison);
    const ask = asker(upstream.url);
    for (let times = 0; times < 3; times += 1) {
      expect((await resultOf(ask())).body).toBe("hello");
      // The bytes arrive meanwhile, so they are in the socket before the next request.
      upstream.block();
    }
  });
});

/** The result of Node's own client for the answer of a URL. */
function resultByNode(url: string): Promise<ExchangeResult> {
  return new Promise((resolve, reject) => {
    const asked = nodeRequest(`${url}/v1/x`, { method: "POST" }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => void chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: Buffer.concat(chunks).toString("latin1"),
        }),
      );
    });
    asked.on("error", reject).setHeader("content-length", 2);
    asked.end("{}");
  });
}

it("a well-formed answer is read as Node's own client reads it", async () => {
  const upstream = await startRaw(() => undefined);
  const ask = asker(upstream.url, usePools());
  const name = fc.constantFrom(
    "X-A",
    "x-b",
    "Set-Cookie",
    "ETag",
    "Server",
    "Cookie",
    "retry-after",
    "Vary",
  );
  const value = fc.stringMatching(/^[!-~\xa1-\xff]?([ -~\t]{0,12}[!-~])?$/);
  const answer = fc.record({
    status: fc.constantFrom(
      "200 OK",
      "201",
      "400 Bad Request",
      "429 ",
      "503 Très occupé",
      "204 No",
    ),
    fields: fc.array(fc.tuple(name, fc.constantFrom(":", ": ", ":\t "), value), { maxLength: 6 }),
    body: fc.uint8Array({ maxLength: 300 }),
    kind: fc.constantFrom("length", "chunked", "close"),
    size: fc.integer({ min: 1, max: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(answer, async ({ status, fields, body, kind, size }) => {
      const isBare = status.startsWith("204");
      const content = isBare ? "" : Buffer.from(body).toString("latin1");
      const framed = {
        length: `content-length: ${content.length}\r\n`,
        chunked: "Transfer-Encoding: chunked\r\n",
        close: "",
      };
      const lines = fields.map(([n, separator, v]) => `${n}${separator}${v}\r\n`).join("");
      const head = `HTTP/1.1 ${status}\r\n${lines}${isBare ? "" : framed[kind]}\r\n`;
      const chunks = (content.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).map(
        (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
      );
      const isChunked = kind === "chunked" && !isBare;
      const bytes = head + (isChunked ? `${chunks.join("")}0\r\n\r\n` : content);
      upstream.answer((socket) => void socket.end(bytes, "latin1"));
      expect(await resultOf(ask())).toEqual(await resultByNode(upstream.url));
    }),
    { numRuns: 60 },
  );
});

/** Bytes that are not proper HTTP, and malicious HTTP. Each gets an answer or a closed connection, without further effect. */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { answer, bodyOf, entries, readError, sleep, statuses, useWorld } from "./support.ts";

const world = useWorld();

const chat = entries[0]!;
const body = JSON.stringify(chat.good);

function head(lines: readonly string[], path = chat.path, method = "POST", to = world): string {
  const all = [
    `${method} ${path} HTTP/1.1`,
    "Host: gateway",
    `Authorization: Bearer ${to.gateway.key}`,
    ...lines,
  ];
  return `${all.join("\r\n")}\r\n\r\n`;
}

const json = "Content-Type: application/json";
const length = `Content-Length: ${body.length}`;
const good = (): string => head([json, length]) + body;

describe("bytes that are not HTTP", () => {
  const malformed: [name: string, bytes: () => string | Buffer][] = [
    ["binary noise", () => Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc])],
    ["no version", () => "POST /v1/chat/completions\r\n\r\n"],
    ["HTTP/0.9", () => good().replace("/1.1", "/0.9")],
    ["HTTP/2.0", () => good().replace("/1.1", "/2.0")],
    ["an unknown method", () => head([json, length], chat.path, "SMUGGLE") + body],
    ["a space in the path", () => head([json, length], "/v1/chat completions") + body],
    ["a control character in the path", () => head([json], "/v1/\u0001") + body],
    ["a bare CR in a header value", () => head([json, length, "X-Evil: a\rb: c"]) + body],
    ["a NUL in a header value", () => head([json, length, "X-Evil: a\0b"]) + body],
    ["a space before the colon", () => head([json, `Content-Length : ${body.length}`]) + body],
    ["a folded header", () => head([json, "X-Evil: a\r\n b", length]) + body],
    ["a length that is not a number", () => head([json, "Content-Length: ten"]) + body],
    ["a negative length", () => head([json, "Content-Length: -1"]) + body],
    ["two lengths", () => head([json, length, "Content-Length: 5"]) + body],
    ["two lengths in one", () => head([json, `Content-Length: ${body.length}, 5`]) + body],
    ["two hosts", () => head([json, length, "Host: other"]) + body],
    [
      "chunks in HTTP/1.0",
      () =>
        head([json, "Connection: keep-alive", "Transfer-Encoding: chunked"]).replace(
          "HTTP/1.1",
          "HTTP/1.0",
        ) + `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
    [
      "both a length and chunks",
      () => `${head([json, "Content-Length: 4", "Transfer-Encoding: chunked"])}0\r\n\r\n`,
    ],
    [
      "chunks and a second transfer coding",
      () => `${head([json, "Transfer-Encoding: chunked, identity"])}0\r\n\r\n`,
    ],
    ...["gzip, chunked", "chunked, chunked", "x, chunked"].map((coding): [string, () => string] => [
      `chunks with another transfer coding: ${coding}`,
      () =>
        `${head([json, `Transfer-Encoding: ${coding}`])}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ]),
    [
      "chunks, hidden by a control character",
      () => `${head([json, "Transfer-Encoding: \u000bchunked"])}0\r\n\r\n`,
    ],
    [
      "a chunk length that is not a number",
      () => `${head([json, "Transfer-Encoding: chunked"])}zz\r\n`,
    ],
    [
      "a chunk longer than its length",
      () => `${head([json, "Transfer-Encoding: chunked"])}2\r\n${body}\r\n0\r\n\r\n`,
    ],
    [
      "a chunk length beyond 2^64",
      () => `${head([json, "Transfer-Encoding: chunked"])}${"f".repeat(17)}\r\n`,
    ],
  ];

  it.each(malformed)(
    "%s: 400 malformed_request in the gateway's error shape, and the connection ends",
    async (_name, bytes) => {
      const smuggled = good();
      const text = await world.unharmed(() => world.raw([bytes(), smuggled]));
      expect(statuses(text)).toEqual([400]);
      expect(text.toLowerCase()).toContain("connection: close");
      expect(readError("chat", bodyOf(text)).code).toBe("malformed_request");
    },
  );

  it.each(entries)(
    "$name errors have their protocol's shape if the path can be read",
    async ({ name, path }) => {
      const text = await world.unharmed(() =>
        world.raw([head([json, length, "X-Evil: a\0b"], path) + body]),
      );
      expect(statuses(text)).toEqual([400]);
      expect(readError(name, bodyOf(text)).code).toBe("malformed_request");
    },
  );
});

describe("oversized request heads", () => {
  it.each([
    ["a very long path", () => head([json, length], `/v1/${"a".repeat(20_000)}`)],
    ["a very long query", () => head([json, length], `${chat.path}?a=${"b".repeat(20_000)}`)],
    [
      "thousands of headers",
      () => head([json, length, ...Array.from({ length: 5_000 }, (_, n) => `X-${n}: ${n}`)]),
    ],
    ["one enormous header", () => head([json, length, `X-Big: ${"x".repeat(1_000_000)}`])],
  ])("%s: 431 request_too_large", async (_name, bytes) => {
    const text = await world.unharmed(() => world.raw([bytes() + body]));
    expect(statuses(text)).toEqual([431]);
    expect(readError("chat", bodyOf(text)).code).toBe("request_too_large");
  });

  it("400 headers that fit into the limit are accepted", async () => {
    const many = Array.from({ length: 400 }, (_, n) => `A${n}: b`);
    const text = await world.raw([head([json, length, ...many]) + body], { answers: 1 });
    expect(statuses(text)).toEqual([200]);
  });
});

describe("slow and half-open connections", () => {
  /** A world with short limits, for these tests only: on a slow machine, good requests reach them too. */
  const impatient = useWorld({ receive: { headersMs: 600, requestMs: 1_500, checkMs: 100 } });
  const begun = (lines: readonly string[]): string => head(lines, chat.path, "POST", impatient);

  it("headers that never end are cut off: 408 request_timeout", async () => {
    const text = await impatient.unharmed(() =>
      impatient.raw(
        [
          `POST ${chat.path} HTTP/1.1\r\nHost: gateway\r\n`,
          ...Array.from({ length: 40 }, () => "X-Slow: 1\r\n"),
        ],
        {
          pauseMs: 100,
        },
      ),
    );
    expect(statuses(text)).toEqual([408]);
    expect(readError("chat", bodyOf(text)).code).toBe("request_timeout");
  });

  it("a body that trickles is cut off: 408 request_timeout", async () => {
    const text = await impatient.unharmed(() =>
      impatient.raw(
        [
          begun([json, "Content-Length: 1000"]),
          ...'{"model":"acme/talk","a":"bbbbbbbbbbb'.split(""),
        ],
        {
          pauseMs: 100,
        },
      ),
    );
    expect(statuses(text)).toEqual([408]);
    expect(readError("chat", bodyOf(text)).code).toBe("request_timeout");
  });

  it("a hundred silent connections delay no other call, and are closed", async () => {
    const started = performance.now();
    const silent = Promise.all(
      Array.from({ length: 100 }, () => impatient.raw([], { waitMs: 120_000 })),
    );
    const answered = await eventually(async () => {
      const text = await impatient.raw([begun([json, length]) + body], { answers: 1 });
      return statuses(text)[0] !== 408 && text;
    }, "an answer other than 408");
    expect(statuses(answered)).toEqual([200]);
    await silent;
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  it("half a body and a closed connection: nothing is reserved or sent to an upstream", async () => {
    await impatient.unharmed(async () => {
      await impatient.raw([begun([json, length]) + body.slice(0, 10)], { waitMs: 100 });
      await impatient.raw([begun([json, "Transfer-Encoding: chunked"]), '5\r\n{"mod'], {
        waitMs: 100,
      });
      await impatient.raw([begun([json, length]) + body.slice(0, 10)], { halfClose: true });
    });
  });

  it("a client that half-closes after a whole request leaves no hold", async () => {
    const balance = () => world.gateway.ledger.balance(world.gateway.workspaceId);
    const nothingHeld = () => expect.poll(async () => (await balance()).heldNano).toBe(0n);
    await nothingHeld();
    const before = await balance();
    await world.raw([good()], { halfClose: true, waitMs: 1_000 });
    await nothingHeld();
    const after = await balance();
    expect(after.chargedNano - before.chargedNano).toBeLessThanOrEqual(4_000n);
  });
});

describe("several requests on one connection", () => {
  it("pipelined requests are answered in order, each once", async () => {
    const bad = head([json, "Content-Length: 2"]) + "{}";
    const get = head([], "/v1/models", "GET");
    const before = world.upstream.requests.length;
    const text = await world.raw([good() + bad + get + good()], { answers: 4 });
    expect(statuses(text)).toEqual([200, 400, 200, 200]);
    expect(world.upstream.requests.length - before).toBe(2);
  });

  it("a body after a refused request head is not read as the next request", async () => {
    const inner = good();
    const outer = `POST ${chat.path} HTTP/1.1\r\nHost: gateway\r\n${json}\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`;
    const text = await world.unharmed(() => world.raw([outer], { answers: 1, afterMs: 500 }));
    expect(statuses(text)).toEqual([401]);
  });

  it("a body of a GET is not read as the next request", async () => {
    const inner = good();
    const outer = head([`Content-Length: ${inner.length}`], "/healthz", "GET") + inner;
    const text = await world.unharmed(() => world.raw([outer], { answers: 1, afterMs: 500 }));
    expect(statuses(text)).toEqual([200]);
  });

  it("noise sent during an answer never lands inside that answer", async () => {
    world.upstream.answer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n');
    });
    const stream = JSON.stringify({ ...chat.good, stream: true });
    const request = head([json, `Content-Length: ${stream.length}`]) + stream;
    const parts = [request, "noise\r\n\r\n"];
    const text = await world.raw(parts, { lastAfter: "Hello", answers: 1, afterMs: 1_000 });
    world.upstream.answer(answer);
    expect(text).toContain("Hello");
    expect(statuses(text)).toEqual([200]);
    const held = async () =>
      (await world.gateway.ledger.balance(world.gateway.workspaceId)).heldNano;
    await expect.poll(held).toBe(0n);
  });

  it("an upgrade to h2c is ignored, and a websocket upgrade gets 426", async () => {
    const upgrade = head([json, length, "Connection: Upgrade", "Upgrade: h2c"]) + body;
    const text = await world.raw([upgrade], { answers: 1 });
    expect(statuses(text)).toEqual([200]);
    const websocket = head(["Connection: Upgrade", "Upgrade: websocket"], chat.path, "GET");
    expect(statuses(await world.raw([websocket], { answers: 1 }))).toEqual([426]);
  });

  it("CONNECT and an absolute URL of another host open no connection", async () => {
    const connect = "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80\r\n\r\n";
    expect(statuses(await world.raw([connect], { waitMs: 500 }))).not.toContain(200);
    const absolute = head([], "http://169.254.169.254/latest/meta-data", "GET");
    const text = await world.unharmed(() => world.raw([absolute], { answers: 1 }));
    expect(statuses(text)).toEqual([404]);
    await sleep(50);
  });

  it("an absolute URL with a password is served by its path", async () => {
    const signedOut = head([], "http://me:secret@gateway/auth/get-session?a=1", "GET");
    const text = await world.unharmed(() => world.raw([signedOut], { answers: 1 }));
    expect([statuses(text), bodyOf(text)]).toEqual([[200], null]);
  });
});

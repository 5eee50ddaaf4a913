/** Answers compressed by a vendor or its CDN: through both HTTP clients, over real sockets. */
import type { IncomingHttpHeaders } from "node:http";
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import {
  answerBytesMax,
  ask,
  askForStream,
  createPools,
  openExchange,
  type Exchange,
} from "../../src/upstream/index.ts";
import { startRecorder, type Answer } from "../support/recorder.ts";
import { provider } from "./media-support.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function upstreamOf(answer: Answer) {
  const upstream = await startRecorder(answer);
  const pools = createPools();
  closers.push(
    () => upstream.close(),
    () => pools.close(),
  );
  return { upstream, pools };
}

const deadlines = { firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 };

async function exchangeWith(answer: Answer): Promise<Exchange> {
  const { upstream, pools } = await upstreamOf(answer);
  const request = { path: "/x", headers: {}, body: "{}", ...deadlines };
  return openExchange(pools.get(upstream.url, 1_000), request).answer;
}

async function askWith(answer: Answer, parts: { pictures?: number; bytesMax?: number } = {}) {
  const { upstream, pools } = await upstreamOf(answer);
  const { bytesMax, ...more } = parts;
  const request = { method: "POST", path: "/x", headers: {}, body: "{}", ...more } as const;
  const pool = pools.forMedia(upstream.url, 500);
  const limits = { totalMs: 30_000, bytesMax };
  return { upstream, answer: ask(pool, provider("openai", upstream.url), request, limits) };
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error: { failure: string; message: string }) => `${error.failure}: ${error.message}`,
  );

const text = JSON.stringify({ words: "Grüße ".repeat(5_000) });
const encodings: readonly [string, Buffer][] = [
  ["gzip", gzipSync(text)],
  ["x-gzip", gzipSync(text)],
  ["GZIP", gzipSync(text)],
  ["deflate", deflateSync(text)],
  ["br", brotliCompressSync(text)],
  ["zstd", zstdCompressSync(text)],
  ["zstd", withWindow(23)],
  ["identity", Buffer.from(text)],
];

/** A zstd frame with the text in one raw block, which declares a window of 2^`log` bytes. RFC 8878 section 3.1.1. */
function withWindow(log: number): Buffer {
  const body = Buffer.from(text);
  const block = Buffer.alloc(4);
  block.writeUInt32LE(body.length * 8 + 1);
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (log - 10) * 8];
  return Buffer.concat([Buffer.from(head), block.subarray(0, 3), body]);
}

const respondWhole =
  (coding: string, body: Buffer): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-encoding": coding, "content-length": body.length });
    response.end(body);
  };

/** Answers with an encoded body, a few bytes at a time. */
const respondInPieces =
  (coding: string, body: Buffer): Answer =>
  async (_request, response) => {
    response.writeHead(200, { "content-encoding": coding });
    for (let at = 0; at < body.length; at += 37) {
      response.write(body.subarray(at, at + 37));
      if (at % 370 === 0) await sleep(1);
    }
    response.end();
  };

describe("a whole answer", () => {
  it.each(encodings)(
    "in %s is decoded by both clients, whether it comes at once or in small pieces",
    async (coding, body) => {
      for (const answer of [respondWhole(coding, body), respondInPieces(coding, body)]) {
        const exchange = await exchangeWith(answer);
        expect((await exchange.readAll(1e6)).toString()).toBe(text);
        expect((await (await askWith(answer)).answer).body.toString()).toBe(text);
      }
    },
  );

  it("without a body is not a failure", async () => {
    const exchange = await exchangeWith(respondWhole("gzip", Buffer.alloc(0)));
    expect((await exchange.readAll(10)).length).toBe(0);
    const { answer } = await askWith(respondWhole("br", Buffer.alloc(0)));
    expect((await answer).body.length).toBe(0);
  });

  it.each([
    ["compress", Buffer.from(text), /Content-Encoding "compress"/],
    ["gzip, br", brotliCompressSync(gzipSync(text)), /Content-Encoding "gzip, br"/],
    ["__proto__", Buffer.from(text), /Content-Encoding "__proto__"/],
    ["gzip", Buffer.from(text), /no valid gzip/],
    ["br", Buffer.from(text), /no valid br/],
    ["zstd", Buffer.from(text), /no valid zstd/],
    ["zstd", withWindow(27), /no valid zstd/],
    ["gzip", gzipSync(text).subarray(0, 100), /no valid gzip/],
    ["br", brotliCompressSync(text).subarray(0, 40), /no valid br/],
  ])(
    "in %s that cannot be decoded fails with an error that says so",
    async (coding, body, said) => {
      const exchange = await exchangeWith(respondWhole(coding, body));
      expect(exchange.status).toBe(200);
      const told = await failureOf(exchange.readAll(1e6));
      expect(told).toMatch(/^unreadable: /);
      expect(told).toMatch(said);
      const asked = await failureOf((await askWith(respondWhole(coding, body))).answer);
      expect(asked).toMatch(/^unreadable: /);
      expect(asked).toMatch(said);
    },
  );

  it("is cut at the limit for uncompressed answers if it decodes to too many bytes", async () => {
    const bomb = gzipSync(Buffer.alloc(2 * answerBytesMax), { level: 9 });
    expect(bomb.length).toBeLessThan(1e6);
    const before = process.memoryUsage().rss;
    const exchange = await exchangeWith(respondWhole("gzip", bomb));
    expect(await failureOf(exchange.readAll(4e6))).toMatch(/^too_large: .* 4000000 bytes/);
    const streamed = await exchangeWith(respondWhole("gzip", bomb));
    let seen = 0;
    const failed = new Promise((resolve, reject) =>
      streamed.consume({
        data: (chunk) => void (seen += chunk.length),
        end: () => resolve("ended"),
        fail: reject,
      }),
    );
    expect(await failureOf(failed)).toMatch(/^too_large: .*once it is decoded/);
    expect(seen).toBeLessThanOrEqual(answerBytesMax);
    const { answer } = await askWith(respondWhole("zstd", zstdCompressSync(Buffer.alloc(64e6))), {
      bytesMax: 1e6,
    });
    expect(await failureOf(answer)).toMatch(/^too_large: /);
    expect(process.memoryUsage().rss - before).toBeLessThan(400e6);
  });
});

const flushing = {
  gzip: () => createGzip(),
  br: () => createBrotliCompress(),
  zstd: () => createZstdCompress(),
} as const;
const flushes = {
  gzip: constants.Z_SYNC_FLUSH,
  br: constants.BROTLI_OPERATION_FLUSH,
  zstd: constants.ZSTD_e_flush,
} as const;

/** A compressed stream: its answer, `send` to write and flush one event, and `end`. */
function eventsIn(coding: keyof typeof flushing) {
  const compressor = flushing[coding]();
  const sent: ((event: string) => void)[] = [];
  const answer: Answer = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": coding });
    response.flushHeaders();
    compressor.pipe(response);
    sent.push((event) => {
      compressor.write(event);
      compressor.flush(flushes[coding]);
    });
  };
  return { answer, send: (event: string) => sent[0]!(event), end: () => void compressor.end() };
}

describe("a stream", () => {
  it.each(["gzip", "br", "zstd"] as const)(
    "in %s passes each event on at once, to both clients (T17)",
    async (coding) => {
      for (const client of ["text", "media"]) {
        const source = eventsIn(coding);
        let received = "";
        let isOver = false;
        if (client === "text") {
          const exchange = await exchangeWith(source.answer);
          exchange.consume({
            data: (chunk) => void (received += chunk.toString()),
            end: () => void (isOver = true),
            fail: (error) => void (received += error.message),
          });
        } else {
          const { upstream, pools } = await upstreamOf(source.answer);
          const request = { method: "POST", path: "/x", headers: {}, body: "{}" } as const;
          const answer = await askForStream(
            pools.forMedia(upstream.url, 500),
            provider("openai", upstream.url),
            request,
          );
          if (!("stream" in answer)) throw new Error("it is no stream");
          answer.stream.on("data", (chunk: Buffer) => void (received += chunk.toString()));
          answer.stream.on("end", () => void (isOver = true));
        }
        let said = "";
        for (const word of ["one", "two", "three"]) {
          said += `data: ${word}\n\n`;
          source.send(`data: ${word}\n\n`);
          await expect.poll(() => received).toBe(said);
        }
        expect(isOver).toBe(false);
        source.end();
        await expect.poll(() => isOver).toBe(true);
      }
    },
  );

  it("slows its source while it is paused, and loses nothing", async () => {
    const block = Buffer.alloc(1e6, "x");
    let written = 0;
    const exchange = await exchangeWith(async (_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const compressor = createGzip({ level: 0 });
      compressor.pipe(response);
      for (; written < 40; written += 1)
        if (!compressor.write(block)) await new Promise((go) => compressor.once("drain", go));
      compressor.end();
    });
    let received = 0;
    const done = new Promise<void>((resolve, reject) =>
      exchange.consume({
        data: (chunk) => void (received += chunk.length),
        end: resolve,
        fail: reject,
      }),
    );
    exchange.pause();
    await sleep(500);
    expect(written).toBeLessThan(30);
    const before = written;
    await sleep(200);
    expect(written).toBe(before);
    exchange.resume();
    await done;
    expect(received).toBe(40 * block.length);
  });

  it("delivers what arrived before a cut, and then fails; an aborted one fails as aborted", async () => {
    const cut = await exchangeWith((_request, response) => {
      const body = gzipSync(text);
      response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length });
      response.write(body.subarray(0, body.length - 20), () => response.destroy());
    });
    let received = "";
    const failed = new Promise((resolve, reject) =>
      cut.consume({
        data: (chunk) => void (received += chunk.toString()),
        end: () => resolve(0),
        fail: reject,
      }),
    );
    expect(await failureOf(failed)).toMatch(/^broken: /);
    expect(text.startsWith(received)).toBe(true);
    expect(received.length).toBeGreaterThan(0);

    const left = await exchangeWith(respondInPieces("gzip", gzipSync(Buffer.alloc(1e6, "abc"))));
    const reading = left.readAll(1e7);
    left.abort();
    expect(await failureOf(reading)).toMatch(/^aborted: /);
  });
});

it("compression is requested where pictures are in the answer, and not for streams of pictures", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const answer: Answer = ({ headers }, response) => {
    seen.push(headers);
    response.end("{}");
  };
  await (
    await askWith(answer, { pictures: 1 })
  ).answer;
  await (
    await askWith(answer)
  ).answer;
  const { upstream, pools } = await upstreamOf(answer);
  const request = { method: "POST", path: "/x", headers: {}, body: "{}", pictures: 1 } as const;
  await askForStream(pools.forMedia(upstream.url, 500), provider("openai", upstream.url), request);
  expect(seen.map((headers) => headers["accept-encoding"])).toEqual([
    "gzip, br, zstd",
    undefined,
    undefined,
  ]);
});

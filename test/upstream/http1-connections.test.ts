/** Connections to an upstream: which are reused, and the deadlines of their exchanges. */
import { createServer as createTcpServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import {
  asker,
  listen,
  startLateSender,
  sleep,
  startRaw,
  resultOf,
  until,
  usePools,
  type RawUpstream,
} from "./http1-support.ts";

const ok = (lines = "", body = "hello"): string =>
  `HTTP/1.1 200 OK\r\n${lines}content-length: ${body.length}\r\n\r\n${body}`;
const answering = (text: string) => (socket: Socket) => void socket.write(text, "latin1");
const connectionsOf = (upstream: RawUpstream) =>
  upstream.requests.map(({ connection }) => connection);

describe("a connection", () => {
  it("is reused for the next exchange, and as many are opened as there are concurrent exchanges (T85)", async () => {
    const upstream = await startRaw((socket) => void setTimeout(() => socket.write(ok()), 20));
    const ask = asker(upstream.url);
    await resultOf(ask());
    await resultOf(ask());
    expect(connectionsOf(upstream)).toEqual([0, 0]);
    const all = await Promise.all(Array.from({ length: 150 }, () => resultOf(ask())));
    expect(all.filter(({ body }) => body === "hello")).toHaveLength(150);
    expect(upstream.sockets).toHaveLength(150);
  });

  it("is chosen if it was used last", async () => {
    const waiting: Socket[] = [];
    const upstream = await startRaw((socket) => void waiting.push(socket));
    const ask = asker(upstream.url);
    const asked = [resultOf(ask()), resultOf(ask())];
    await until(() => waiting.length === 2);
    waiting[1]!.write(ok());
    await sleep(20);
    waiting[0]!.write(ok());
    await Promise.all(asked);
    const last = upstream.sockets.indexOf(waiting[0]!);
    upstream.answer(answering(ok()));
    await resultOf(ask());
    expect(upstream.requests.at(-1)!.connection).toBe(last);
  });

  it.each([
    ["Connection: close", ok("connection: close\r\n")],
    ["HTTP/1.0", ok("connection: keep-alive\r\n").replace("1.1", "1.0")],
    ["Keep-Alive: timeout=1", ok("keep-alive: timeout=1\r\n")],
    ["a 304 with a Content-Length", "HTTP/1.1 304 Not\r\ncontent-length: 5\r\n\r\n"],
  ])("is not reused after %s", async (_, text) => {
    const upstream = await startRaw(answering(text));
    const ask = asker(upstream.url);
    expect((await resultOf(ask())).failure).toBeUndefined();
    await until(() => upstream.sockets[0]!.destroyed);
    expect((await resultOf(ask())).failure).toBeUndefined();
    expect(connectionsOf(upstream)).toEqual([0, 1]);
  });

  it("is closed before its server's keep-alive timeout", async () => {
    const upstream = await startRaw(answering(ok("keep-alive: timeout=3\r\n")));
    const ask = asker(upstream.url);
    await resultOf(ask());
    const begun = performance.now();
    await sleep(200);
    await resultOf(ask());
    expect(connectionsOf(upstream)).toEqual([0, 0]);
    // Timers of one process keep their order, even when late. The begun close is read a moment later.
    const late = sleep(2_900).then(() => sleep(200));
    const closed = until(() => upstream.sockets[0]!.destroyed);
    expect(await Promise.race([closed, late.then(() => "too late")])).toBe(true);
    expect(performance.now() - begun).toBeGreaterThan(1_100);
  });

  it("is not reused if its server closed it while idle, even if the close was not read yet", async () => {
    const upstream = await startLateSender(ok(), "");
    const ask = asker(upstream.url);
    for (let times = 0; times < 3; times += 1) {
      expect((await resultOf(ask())).body).toBe("hello");
      upstream.block();
    }
  });

  it("is broken if its server closes it during a request: a POST is not sent twice", async () => {
    const upstream = await startRaw(answering(ok()));
    const ask = asker(upstream.url);
    await resultOf(ask());
    upstream.answer((socket) => void socket.end());
    expect(await resultOf(ask())).toMatchObject({ failure: "broken" });
    upstream.answer(answering(ok()));
    await resultOf(ask());
    upstream.answer((socket) => void socket.resetAndDestroy());
    expect(await resultOf(ask())).toMatchObject({ failure: "broken" });
    expect(connectionsOf(upstream)).toEqual([0, 0, 1, 1]);
  });

  it("is closed with an exchange that is aborted before or after its answer begins", async () => {
    const upstream = await startRaw(answering("HTTP/1.1 200 OK\r\n\r\nhel"));
    const ask = asker(upstream.url);
    const early = ask();
    early.abort();
    expect(await resultOf(early)).toMatchObject({ failure: "aborted" });
    const late = ask();
    const exchange = await late.answer;
    late.abort();
    late.abort();
    exchange.resume();
    expect(await resultOf(late)).toMatchObject({ failure: "aborted", body: "hel" });
    await until(() => upstream.sockets.every((socket) => socket.destroyed));
  });

  it("is reused after the exchange that reserved it was aborted", async () => {
    const upstream = await startRaw(answering(ok()));
    const ask = asker(upstream.url);
    await resultOf(ask());
    const given = ask();
    given.abort();
    expect(await resultOf(given)).toMatchObject({ failure: "aborted" });
    expect((await resultOf(ask())).body).toBe("hello");
    expect(upstream.requests).toHaveLength(2);
  });

  it("is closed with its exchange when the pools close, and no new one is made", async () => {
    const upstream = await startRaw(() => undefined);
    const pools = usePools();
    const pool = pools.get(upstream.url, 1_000);
    const ask = asker(upstream.url, pools);
    const open = resultOf(ask());
    await until(() => upstream.requests.length === 1);
    await pools.close();
    expect(await open).toMatchObject({ failure: "broken" });
    const again = asker(upstream.url, { ...pools, get: () => pool });
    expect(await resultOf(again())).toMatchObject({ failure: "broken" });
    await until(() => upstream.sockets[0]!.destroyed);
  });
});

describe("a deadline", () => {
  it("for the answer's head counts from the request, regardless of interim answers", async () => {
    const upstream = await startRaw((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 20);
      socket.on("close", () => clearInterval(timer));
    });
    const ask = asker(upstream.url);
    const begun = performance.now();
    // If each interim answer restarted this deadline, the total deadline would end the exchange instead.
    expect(await resultOf(ask({ firstByteMs: 100, totalMs: 5_000 }))).toMatchObject({
      failure: "first_byte_timeout",
    });
    expect(performance.now() - begun).toBeGreaterThan(95);
  });

  it("for silence does not run while the gateway has paused the flow", async () => {
    const upstream = await startRaw(
      (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na"),
    );
    const exchange = await asker(upstream.url)({ idleMs: 300 }).answer;
    const received: string[] = [];
    const done = new Promise<void>((resolve) =>
      exchange.consume({
        data(chunk) {
          received.push(chunk.toString());
        },
        end: resolve,
        fail: (error) => resolve(void received.push(error.failure)),
      }),
    );
    exchange.pause();
    await sleep(450);
    exchange.resume();
    upstream.sockets[0]!.write("b");
    await done;
    expect(received).toEqual(["a", "b"]);
  });

  it("affects only its own exchange, even a short one after a long one", async () => {
    const upstream = await startRaw(() => undefined);
    const ask = asker(upstream.url);
    const long = ask();
    const begun = performance.now();
    const result = await Promise.all(
      [300, 40, 120].map(async (firstByteMs) => ({
        ...(await resultOf(ask({ firstByteMs }))),
        ms: performance.now() - begun - firstByteMs,
      })),
    );
    for (const { failure, ms } of result) {
      expect(failure).toBe("first_byte_timeout");
      expect(ms).toBeGreaterThan(-2);
      // The long exchange has a deadline of half a minute.
      expect(ms).toBeLessThan(15_000);
    }
    long.abort();
    expect(await resultOf(long)).toMatchObject({ failure: "aborted" });
  });

  it("does not fail an answer that arrived in time while this process was busy", async () => {
    const upstream = await startLateSender(ok().replace("hello", ""), "hello");
    const exchange = await asker(upstream.url)({ idleMs: 60 }).answer;
    upstream.block(150);
    expect((await exchange.readAll(100)).toString()).toBe("hello");
  });

  it("for the connection includes the TLS handshake", async () => {
    const port = await listen(createTcpServer(() => undefined));
    const pools = usePools();
    const get = (origin: string) => pools.get(origin, 100);
    const ask = asker(`https://127.0.0.1:${port}`, { ...pools, get });
    expect(await resultOf(ask())).toMatchObject({ failure: "connect" });
  });
});

it("a consumer that throws breaks only its own exchange", async () => {
  const upstream = await startRaw(answering(ok()));
  const ask = asker(upstream.url);
  upstream.answer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n");
    setTimeout(() => socket.write("hello"), 20);
  });
  const exchange = await ask().answer;
  const failure = await new Promise((resolve) =>
    exchange.consume({
      data() {
        throw new Error("no");
      },
      end: () => resolve("end"),
      fail: (error) => resolve(error.failure),
    }),
  );
  expect(failure).toBe("broken");
  upstream.answer(answering(ok()));
  expect((await resultOf(ask())).body).toBe("hello");
});

it("a URL with an IPv6 address is reached", async () => {
  const server = createTcpServer((socket) => void socket.once("data", () => socket.write(ok())));
  const port = await listen(server, "::1");
  // A machine without IPv6 cannot test this.
  const result =
    port === undefined ? { body: "hello" } : await resultOf(asker(`http://[::1]:${port}`)());
  expect(result.body).toBe("hello");
});

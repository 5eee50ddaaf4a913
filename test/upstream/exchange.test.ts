/** One exchange with an upstream: deadlines, cuts, backpressure, aborts. Over real sockets. */
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  createPools,
  openExchange,
  ExchangeError,
  type Exchange,
} from "../../src/upstream/index.ts";
import { eventually } from "../support/patience.ts";
import { startRecorder, type Answer } from "../support/recorder.ts";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(
  answer: Answer,
  deadlines: Partial<Record<"firstByteMs" | "idleMs" | "totalMs", number>> = {},
) {
  const upstream = await startRecorder(answer);
  const pools = createPools();
  closers.push(
    () => upstream.close(),
    () => pools.close(),
  );
  const request = {
    path: "/x",
    headers: {},
    body: "{}",
    firstByteMs: 30_000,
    idleMs: 30_000,
    totalMs: 60_000,
    ...deadlines,
  };
  return { upstream, ...openExchange(pools.get(upstream.url, 20_000), request) };
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ExchangeError);
  return (error as ExchangeError).failure;
}

describe("an exchange", () => {
  it("reads a body that arrives in pieces", async () => {
    const { answer } = await open((_request, response) => {
      response.writeHead(200);
      response.write("a");
      setTimeout(() => response.write("b"), 20);
      setTimeout(() => response.end("c"), 40);
    });
    const exchange = await answer;
    expect(exchange.status).toBe(200);
    expect((await exchange.readAll(100)).toString()).toBe("abc");
  });

  it("delivers in order what arrived before there was a consumer", async () => {
    const { answer } = await open(
      (_request, response) => void response.writeHead(200).end("x".repeat(200_000)),
    );
    const exchange = await answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await exchange.readAll(1_000_000)).length).toBe(200_000);
  });

  it("gives up on an upstream that never answers", async () => {
    const { answer } = await open(() => {}, { firstByteMs: 50 });
    expect(await failureOf(answer)).toBe("first_byte_timeout");
  });

  it("gives up on an upstream that falls silent in the middle of a body", async () => {
    const { answer } = await open((_request, response) => void response.writeHead(200).write("a"), {
      idleMs: 50,
    });
    expect(await failureOf((await answer).readAll(100))).toBe("idle_timeout");
  });

  it("gives up on an answer that trickles past the total deadline", async () => {
    const { answer } = await open(
      (_request, response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write("."), 20);
        response.on("close", () => clearInterval(timer));
      },
      { totalMs: 150 },
    );
    expect(await failureOf((await answer).readAll(10_000))).toBe("total_timeout");
  });

  it("reports an upstream that cannot be reached", async () => {
    const probe = createTcpServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => probe.once("listening", resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const pools = createPools();
    closers.push(() => pools.close());
    const request = {
      path: "/",
      headers: {},
      body: "",
      firstByteMs: 1_000,
      idleMs: 1_000,
      totalMs: 1_000,
    };
    expect(
      await failureOf(openExchange(pools.get(`http://127.0.0.1:${port}`, 500), request).answer),
    ).toBe("connect");
  });

  it("reports a body shorter than its Content-Length as broken", async () => {
    const { answer } = await open((_request, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("abc", () => response.destroy());
    });
    expect(await failureOf((await answer).readAll(100))).toBe("broken");
  });

  it("limits the bytes that it reads of an endless body", async () => {
    const { answer } = await open((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("x".repeat(1_000)), 1);
      response.on("close", () => clearInterval(timer));
    });
    expect(await failureOf((await answer).readAll(5_000))).toBe("too_large");
  });

  it("closes the upstream's connection at once when aborted, before and after the head", async () => {
    const early = await open(() => {});
    const whenRejected = failureOf(early.answer);
    await until(() => early.upstream.requests.length === 1);
    early.abort();
    expect(await whenRejected).toBe("aborted");
    await until(() => early.upstream.requests[0]!.aborted);

    const late = await open((_request, response) => void response.writeHead(200).write("a"));
    const exchange = await late.answer;
    const reading = failureOf(exchange.readAll(100));
    late.abort();
    expect(await reading).toBe("aborted");
    await until(() => late.upstream.requests[0]!.aborted);
  });

  it("stops the upstream while paused", async () => {
    const { answer } = await open((_request, response) => {
      response.writeHead(200);
      const fill = (): void => {
        while (response.write(Buffer.alloc(65_536))) sent += 65_536;
        response.once("drain", fill);
      };
      fill();
    });
    let sent = 0;
    let received = 0;
    const exchange: Exchange = await answer;
    exchange.consume({ data: (chunk) => (received += chunk.length), end() {}, fail() {} });
    exchange.pause();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const [sentBefore, receivedBefore] = [sent, received];
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(received - receivedBefore).toBeLessThan(1_000_000);
    expect(sent - sentBefore).toBeLessThan(16_000_000);
    exchange.resume();
    await until(() => received > receivedBefore + 8_000_000);
    exchange.abort();
  });
});

const until = (condition: () => boolean) => eventually(condition, "a condition that comes true");

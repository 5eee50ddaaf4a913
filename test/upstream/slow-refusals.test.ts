/** Refusals whose body does not end: the status decides after a few seconds, for both clients. docs/routing.md "When one fails". */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { ask, type AskFailure, createPools, readRefusal } from "../../src/upstream/index.ts";
import type { BodyConsumer, Exchange } from "../../src/upstream/exchange.ts";
import { AskHandler } from "../../src/upstream/media/ask-handler.ts";
import { provider } from "./media-support.ts";

afterEach(() => vi.useRealTimers());

const limitMs = 10_000;

it("a text vendor's refusal that trickles is given up after ten seconds, with what arrived", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let consumer: BodyConsumer | undefined;
  const abort = vi.fn();
  const exchange = { consume: (one: BodyConsumer) => void (consumer = one), abort };
  const read = readRefusal(exchange as unknown as Exchange);
  for (let ms = 0; ms < limitMs; ms += 1_000) {
    expect(abort).not.toHaveBeenCalled();
    consumer!.data(Buffer.from("x"));
    vi.advanceTimersByTime(1_000);
  }
  const { bytes, cut } = await read;
  expect([bytes.length, cut?.failure]).toEqual([10, "idle_timeout"]);
  expect(abort).toHaveBeenCalledOnce();
});

it("a media vendor's refusal that trickles is given up after ten seconds, and is an answer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const controller = { abort: vi.fn(), pause: vi.fn(), resume: vi.fn() };
  const resolve = vi.fn();
  const bounds = { totalMs: 3_600_000, bytesMax: 1e6, keptBytesMax: 1e6, streams: undefined };
  const handler = new AskHandler(bounds, { resolve, reject: vi.fn(), stream: undefined });
  handler.onRequestStart(controller as never);
  handler.onResponseStart(controller as never, 429, {});
  handler.onResponseData(controller as never, Buffer.from("slow"));
  vi.advanceTimersByTime(limitMs - 1);
  expect(resolve).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(resolve).toHaveBeenCalledExactlyOnceWith({
    status: 429,
    headers: {},
    body: Buffer.from("slow"),
  });
  expect(controller.abort).toHaveBeenCalledOnce();
});

/** Asks a vendor that sends `head` and a part of its body, and then closes. */
async function askCut(head: string): Promise<string> {
  const server = createServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () =>
      socket.write(`${head}\r\ncontent-length: 99\r\n\r\n{"error":`, () => void socket.end()),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pools = createPools();
  onTestFinished(async () => {
    await pools.close();
    server.close();
  });
  const request = { method: "POST", path: "/x", headers: {}, body: "{}" } as const;
  return ask(pools.forMedia(url, 20_000), provider("xai", url), request).then(
    ({ status, body }) => `${status} ${body.toString()}`,
    (error: unknown) => (error as AskFailure).failure,
  );
}

it("T81: a media vendor's refusal is one even if its body breaks off, and a success is not", async () => {
  expect(await askCut("HTTP/1.1 429 Too Many")).toBe('429 {"error":');
  expect(await askCut("HTTP/1.1 400 Bad\r\ncontent-encoding: rot13")).toBe("400 ");
  expect(await askCut("HTTP/1.1 200 OK")).toBe("broken");
});

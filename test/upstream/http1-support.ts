/** An upstream over raw sockets that sends exact bytes, and exchanges with it. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { createPools, ExchangeError, openExchange } from "../../src/upstream/index.ts";
import type { ExchangeRequest } from "../../src/upstream/exchange.ts";
import { eventually, patienceMs } from "../support/patience.ts";

/** Handles a request whose head and body have arrived. */
type Behaviour = (socket: Socket, request: string) => void;

export interface RawUpstream {
  readonly url: string;
  /** Each request as received, with the index of its connection, from 0. */
  readonly requests: { readonly text: string; readonly connection: number }[];
  /** All connections so far, including closed ones. */
  readonly sockets: Socket[];
  answer(next: Behaviour): void;
}

/** Number of missing bytes of a request; NaN until its head is complete. */
function lengthOf(text: string): number {
  const head = text.indexOf("\r\n\r\n");
  if (head === -1) return Number.NaN;
  return head + 4 + Number(/content-length: (\d+)/.exec(text)?.[1]) - text.length;
}

/** Serves a raw upstream until the test ends. `make` creates another server, for example with TLS. */
export async function startRaw(
  first: Behaviour,
  make: (listener: (socket: Socket) => void) => Server = createServer,
): Promise<RawUpstream> {
  let behaviour = first;
  const requests: RawUpstream["requests"][number][] = [];
  const sockets: Socket[] = [];
  const server = make((socket) => {
    const connection = sockets.push(socket) - 1;
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    let chunks: Buffer[] = [];
    let missing = Number.NaN;
    socket.on("data", (bytes: Buffer) => {
      chunks.push(bytes);
      if (Number.isNaN(missing)) missing = lengthOf(Buffer.concat(chunks).toString("latin1"));
      else missing -= bytes.length;
      // This also returns while the head is incomplete (NaN).
      if (!(missing <= 0)) return;
      const request = Buffer.concat(chunks).toString("latin1");
      chunks = [];
      missing = Number.NaN;
      requests.push({ text: request, connection });
      behaviour(socket, request);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    sockets,
    answer: (next) => void (behaviour = next),
  };
}

/**
 * An upstream in a separate thread, which runs while this one is blocked. It answers each request at once. 20 ms later it sends
 * `after` on the same connection without a request; if `after` is empty, it closes the connection.
 * `block` blocks this thread until that has happened once more, and for at least `ms`.
 */
export async function startLateSender(
  answer: string,
  after: string,
): Promise<{ url: string; block(ms?: number): void }> {
  const source = `
    const { parentPort, workerData } = require("node:worker_threads");
    const done = () => Atomics.notify(workerData.count, 0, Atomics.add(workerData.count, 0, 1) + 1);
    const server = require("node:net").createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => {
        socket.write(workerData.answer);
        setTimeout(() => {
          if (workerData.after) socket.write(workerData.after);
          else socket.end();
          setTimeout(done, 10);
        }, 20);
      });
    });
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;
  const count = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(source, { eval: true, workerData: { answer, after, count } });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = (await once(worker, "message")) as [number];
  let seen = 0;
  return {
    url: `http://127.0.0.1:${port}`,
    block(ms = 0) {
      const until = performance.now() + ms;
      Atomics.wait(count, 0, seen, patienceMs);
      seen += 1;
      while (performance.now() < until);
    },
  };
}

/** Lets a server listen until the test ends. Returns its port; undefined if the machine does not have the address. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number | undefined> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    sockets.push(socket.on("error", () => undefined));
  });
  const isThere = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(0, host, () => resolve(true));
  });
  if (!isThere) return undefined;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

/** Pools that are closed when the test ends. By default their connections are reused at once. */
export function usePools(options: Parameters<typeof createPools>[0] = { quietMs: 0 }) {
  const pools = createPools(options);
  onTestFinished(() => pools.close());
  return pools;
}

/** Returns a function that sends a request to a URL; `parts` overrides defaults. */
export function asker(url: string, pools = usePools()) {
  return (parts: Partial<ExchangeRequest> = {}) =>
    openExchange(pools.get(url, 20_000), {
      path: "/v1/x",
      headers: {},
      body: "{}",
      firstByteMs: 30_000,
      idleMs: 30_000,
      totalMs: 60_000,
      ...parts,
    });
}

/** An answer as far as it arrived, or the failure. */
export interface ExchangeResult {
  readonly status?: number;
  readonly headers?: Record<string, unknown>;
  readonly body?: string;
  readonly failure?: string;
  readonly message?: string;
}

/** The result of an exchange, with the body as Latin-1, so that each byte is visible. */
export async function resultOf(opening: ReturnType<typeof openExchange>): Promise<ExchangeResult> {
  let head: ExchangeResult = {};
  const chunks: Buffer[] = [];
  try {
    const exchange = await opening.answer;
    head = { status: exchange.status, headers: { ...exchange.headers } };
    await new Promise<void>((resolve, reject) =>
      exchange.consume({
        data: (chunk) => void chunks.push(Buffer.from(chunk)),
        end: resolve,
        fail: reject,
      }),
    );
    return { ...head, body: Buffer.concat(chunks).toString("latin1") };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    const body =
      head.status === undefined ? {} : { body: Buffer.concat(chunks).toString("latin1") };
    return { ...head, ...body, failure: error.failure, message: error.message };
  }
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

export const until = (condition: () => boolean): Promise<boolean> =>
  eventually(condition, "a condition that comes true");

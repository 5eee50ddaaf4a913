/** An upstream over bare sockets, which says exactly the bytes it is told to, and exchanges with it. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { createPools, ExchangeError, openExchange } from "../../src/upstream/index.ts";
import type { ExchangeRequest } from "../../src/upstream/exchange.ts";
import { eventually, patienceMs } from "../support/patience.ts";

/** What the upstream does with a request, head and body, that has come in whole. */
type Behaviour = (socket: Socket, request: string) => void;

export interface RawUpstream {
  readonly url: string;
  /** Each request as it came, and the connection it came over, counted from 0. */
  readonly requests: { readonly text: string; readonly connection: number }[];
  /** Connections that were made, and those that are closed. */
  readonly sockets: Socket[];
  answer(next: Behaviour): void;
}

/** How many bytes of a request are missing; not a number as long as its head is. */
function lengthOf(text: string): number {
  const head = text.indexOf("\r\n\r\n");
  if (head === -1) return Number.NaN;
  return head + 4 + Number(/content-length: (\d+)/.exec(text)?.[1]) - text.length;
}

/** Serves a bare upstream until the test is over; `make` makes another server, such as one of TLS. */
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
      // Also while the head is not whole.
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
 * An upstream in a thread of its own, which goes on while this one is blocked. It answers each request at once, and 20 ms later,
 * on the same connection, sends `after` unasked; where that is empty it closes the connection.
 * `block` does nothing else until it has done so once more, and for at least `ms`.
 */
export async function startAfterthought(
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

/** Lets a bare server listen until the test is over; its port. Undefined where there is no such address. */
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

/** Pools that are closed when the test is over. Their connections are used again at once, unless told otherwise. */
export function usePools(options: Parameters<typeof createPools>[0] = { quietMs: 0 }) {
  const pools = createPools(options);
  onTestFinished(() => pools.close());
  return pools;
}

/** Asks a URL; `parts` are what of the request matters. */
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

/** An answer as far as it came. */
export interface Told {
  readonly status?: number;
  readonly headers?: Record<string, unknown>;
  readonly body?: string;
  readonly failure?: string;
  readonly message?: string;
}

/** What came of an exchange: the body as Latin-1, so that each byte shows. */
export async function toldBy(opening: ReturnType<typeof openExchange>): Promise<Told> {
  let head: Told = {};
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

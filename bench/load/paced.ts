/**
 * Open-loop load: a fixed number of requests per second, as from many clients, however long each takes. A latency is counted from the
 * time at which its request was due.
 */
import { connect, type Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";
import { sleep, type LoadTarget } from "./drive.ts";

interface PacedOptions {
  readonly perSecond: number;
  readonly seconds: number;
  /**
   * Connections opened in advance; if all are busy more are opened, up to twice as many. A request beyond that fails: the target no
   * longer answers.
   */
  readonly connections: number;
  /** How long to wait for the last answers. A request without one by then has failed. */
  readonly graceMs?: number;
  readonly signal: AbortSignal;
}

/** The results of one second's requests. Latencies in milliseconds, sorted. */
export interface Second {
  readonly servedMs: Float64Array;
  /** Latencies of requests refused with 503 and `Retry-After`. */
  readonly refusedMs: Float64Array;
  /** All other results: other statuses, incomplete answers, broken connections. */
  readonly failures: number;
}

interface Counting {
  readonly served: number[];
  readonly refused: number[];
  failures: number;
}

type Result = "served" | "refused" | "failed";

const tickMs = 2;
const graceMsDefault = 30_000;
const openedAtOnce = 50;
const refusedHead = /^HTTP\/1\.1 503[^]*^retry-after: *\d+/im;

/** Results second by second. Rejects when the signal fires. */
export async function drivePaced(
  target: LoadTarget,
  { perSecond, seconds, connections, graceMs = graceMsDefault, signal }: PacedOptions,
): Promise<Second[]> {
  const clients = new Clients(target, connections * 2);
  const counted: Counting[] = Array.from({ length: Math.ceil(seconds) }, () => ({
    served: [],
    refused: [],
    failures: 0,
  }));
  await clients.open(connections, signal);
  const beganMs = performance.now();
  const all = Math.floor(perSecond * seconds);
  try {
    for (let sent = 0; sent < all;) {
      signal.throwIfAborted();
      const due = Math.min(all, Math.floor(((performance.now() - beganMs) / 1000) * perSecond));
      for (; sent < due; sent += 1) {
        const dueMs = (sent / perSecond) * 1000;
        const second = counted[Math.floor(dueMs / 1000)]!;
        clients.send(dueMs + beganMs, (result, ms) => {
          if (result === "failed") second.failures += 1;
          else second[result].push(ms);
        });
      }
      await sleep(tickMs, signal);
    }
    const deadline = performance.now() + graceMs;
    while (clients.busy > 0 && performance.now() < deadline) await sleep(tickMs, signal);
  } finally {
    clients.close();
  }
  return counted.map(({ served, refused, failures }) => ({
    servedMs: Float64Array.from(served).sort(),
    refusedMs: Float64Array.from(refused).sort(),
    failures,
  }));
}

type Done = (result: Result, ms: number) => void;

/** Connections, as many as there are requests in flight. */
class Clients {
  busy = 0;
  readonly #target: LoadTarget;
  readonly #most: number;
  readonly #port: number;
  readonly #host: string;
  readonly #idle: ((dueMs: number, done: Done) => void)[] = [];
  /** The function of each connection that ends its request, if one is in flight. */
  readonly #open = new Map<Socket, (result: Result) => void>();
  #next = 0;

  constructor(target: LoadTarget, most: number) {
    this.#target = target;
    this.#most = most;
    const { hostname, port } = new URL(target.url);
    this.#host = hostname;
    this.#port = Number(port) || 80;
  }

  /** Opens `count` connections in small groups: Node accepts one new connection per round of its event loop. */
  async open(count: number, signal: AbortSignal): Promise<void> {
    for (let opened = 0; opened < count; opened += openedAtOnce) {
      const some = Array.from({ length: openedAtOnce }, () => this.#connect());
      this.#idle.push(...some);
      await sleep(tickMs * 5, signal);
    }
  }

  send(dueMs: number, done: Done): void {
    const idle = this.#idle.pop();
    if (idle === undefined && this.#open.size >= this.#most) return done("failed", 0);
    this.busy += 1;
    const client = idle ?? this.#connect();
    client(dueMs, (result, ms) => {
      this.busy -= 1;
      done(result, ms);
    });
  }

  /** Opens one connection, and returns the function that sends a request over it. */
  #connect(): (dueMs: number, done: Done) => void {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    let current: { readonly dueMs: number; readonly done: Done } | undefined;
    let head = "";
    const end = (result: Result): void => {
      const ended = current;
      current = undefined;
      ended?.done(result, performance.now() - ended.dueMs);
    };
    this.#open.set(socket, end);
    const reader = new AnswerReader(this.#target.streamed, {
      head: (text) => (head = text),
      first: () => undefined,
      complete: (ok) => {
        const stays = !/^connection: *close/im.test(head);
        end(ok ? "served" : refusedHead.test(head) ? "refused" : "failed");
        if (stays && this.#open.has(socket)) this.#idle.push(use);
      },
    });
    const use = (dueMs: number, done: Done): void => {
      if (!this.#open.has(socket)) return this.#connect()(dueMs, done);
      current = { dueMs, done };
      const parts = this.#target.requests[this.#next]!;
      this.#next = (this.#next + 1) % this.#target.requests.length;
      for (const part of parts) socket.write(part);
    };
    socket.on("data", (bytes: Buffer) => reader.read(bytes));
    // `close` follows.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#open.delete(socket);
      end("failed");
    });
    return use;
  }

  /** Closes every connection. Requests in flight fail at once: the `close` events come too late to be counted. */
  close(): void {
    for (const [socket, end] of this.#open) {
      end("failed");
      socket.destroy();
    }
  }
}

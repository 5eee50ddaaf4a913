/** Support for tests of the fast path: a server that shows which side answered, raw clients, and requests in pieces. */
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect } from "vitest";
import type { RequestHandler } from "../../src/http/front/fast/connection.ts";
import { installFastPath } from "../../src/http/front/fast/index.ts";

export type FastAnswer = Parameters<RequestHandler>[1];
type Settings = NonNullable<Parameters<typeof startServer>[0]>;

interface LabelledServer {
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

/** A handler for /v1/ that answers `text` after it has read the body, and passes the body to `told`. */
export const answeringText =
  (text: string, told: (body: string) => void = () => undefined): RequestHandler =>
  (request, response, body) => {
    if (!request.url.startsWith("/v1/")) return false;
    const answer = (all: string): void => {
      told(all);
      answerWhole(response, text);
    };
    if (Buffer.isBuffer(body)) answer(body.toString());
    else {
      const chunks: Buffer[] = [];
      body.on("data", (chunk) => void chunks.push(chunk));
      body.on("end", () => answer(Buffer.concat(chunks).toString()));
    }
    return true;
  };

/** Starts a server whose fast path answers /v1/ with "fast"; Node answers everything else with "node". */
async function startServer(
  settings: {
    readonly handle?: RequestHandler;
    readonly leaving?: () => boolean;
    readonly checkMs?: number;
    readonly headersMs?: number;
    readonly requestMs?: number;
    /** False: without the fast path. */
    readonly fast?: boolean;
    readonly keepAliveMs?: number;
  } = {},
): Promise<LabelledServer> {
  const { checkMs = 1_000, headersMs = 30_000, requestMs = 60_000 } = settings;
  const server = createServer(
    {
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
    },
    (request, response) => {
      request.resume();
      request.on("end", () => response.writeHead(200, { "content-length": 4 }).end("node"));
    },
  );
  server.keepAliveTimeout = settings.keepAliveMs ?? 72_000;
  server.keepAliveTimeoutBuffer = 100;
  if (settings.fast !== false)
    installFastPath(server, {
      handle: settings.handle ?? answeringText("fast"),
      leaving: settings.leaving ?? (() => false),
      checkMs,
    });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Starts servers and closes them after each test. */
export function useServers() {
  const opened: LabelledServer[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  const start = async (settings?: Settings): Promise<LabelledServer> => {
    const server = await startServer(settings);
    opened.push(server);
    return server;
  };
  /** Starts a server whose fast answers the test gives itself. */
  const startHeld = async (settings: Settings = {}) => {
    const waiting: FastAnswer[] = [];
    const handle: RequestHandler = (_request, response) => waiting.push(response) > 0;
    const server = await start({ ...settings, handle });
    const next = async (): Promise<FastAnswer> => {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      return waiting.shift()!;
    };
    return { ...server, next };
  };
  return { start, startHeld };
}

export function answerWhole(response: FastAnswer, text = "fast"): void {
  response.writeHead(200, { "content-length": Buffer.byteLength(text) });
  response.end(text);
}

/** One raw connection and all received text. */
export interface Client {
  readonly socket: Socket;
  readonly text: () => string;
  /** Resolves with all received text when `found` is true for it, or when the connection is closed. */
  until(found: (text: string) => boolean): Promise<string>;
  readonly closed: Promise<string>;
}

/** Opens a half-open-capable connection. */
export function openClient(port: number): Client {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  let text = "";
  let changed = (): void => undefined;
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    changed();
  });
  socket.on("error", () => undefined);
  socket.on("end", () => socket.end());
  const closed = new Promise<string>((resolve) => {
    socket.on("close", () => {
      changed();
      resolve(text);
    });
  });
  return {
    socket,
    text: () => text,
    closed,
    until: (found) =>
      new Promise((resolve) => {
        changed = () => {
          if (found(text) || socket.destroyed) resolve(text);
        };
        changed();
      }),
  };
}

/** A plain request; `headers` replaces the default header lines. */
export function plainRequest(
  path: string,
  body: string,
  headers: readonly string[] = [
    "Host: gateway",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ],
): string {
  return `POST ${path} HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n${body}`;
}

/** A request that the fast path answers, and one that it does not. */
export const fast = plainRequest("/v1/a", "{}");
export const other = plainRequest("/else", "{}");

/** Waits `ms`, and then some turns for pending reads: after a stall, timers run before data that has arrived. */
export async function pause(ms = 30): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The bodies "node" and "fast" of all answers, in order. */
export const labels = (text: string): string[] => text.match(/(?<=\r\n\r\n)(?:node|fast)/g) ?? [];

/** Number of complete answers in the received text, without interim ones. */
export const wholeAnswers = (text: string): number => {
  let count = 0;
  for (let rest = text; ; count += 1) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd === -1) return count;
    const head = rest.slice(0, headEnd);
    rest = rest.slice(headEnd + 4);
    if (head.startsWith("HTTP/1.1 100")) count -= 1;
    else {
      const length = /\ncontent-length: (\d+)/i.exec(head)?.[1];
      const chunksEnd = rest.indexOf("0\r\n\r\n");
      const end = length === undefined ? chunksEnd + 5 : Number(length);
      if ((length === undefined && chunksEnd === -1) || rest.length < end) return count;
      rest = rest.slice(end);
    }
  }
};

/**
 * Puts the fast path in front of an HTTP server. Connections that it does not answer reach the server unchanged. Time limits, idle
 * connections and the server's close work as in Node.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { whenClosed } from "../listeners.ts";
import { FastConnection, type FastServer, type RequestHandler } from "./connection.ts";
import { CommonLines } from "./head.ts";

interface FastPathOptions {
  /** Answers a request, or leaves it untouched and returns false. Must not throw. */
  readonly handle: RequestHandler;
  /** True once the gateway stops. */
  readonly leaving: () => boolean;
  /** Milliseconds between two checks of idle connections. */
  readonly checkMs: number;
}

type ConnectionListener = (this: Server, socket: Socket) => void;

/**
 * Installs the fast path in front of all other `connection` listeners. Call it once, before the server listens; it ends with the
 * server.
 */
export function installFastPath(
  server: Server,
  { handle, leaving, checkMs }: FastPathOptions,
): void {
  const open = new Set<FastConnection>();
  const toNode = server.listeners("connection") as ConnectionListener[];
  const fast: FastServer = {
    handle,
    leaving,
    common: new CommonLines(server.keepAliveTimeout),
    clientError(error, socket) {
      if (!server.emit("clientError", error, socket)) socket.destroy();
    },
    forget: (connection) => void open.delete(connection),
    handOver(connection, bytes) {
      open.delete(connection);
      giveToNode(connection.release(), bytes, (socket) => {
        for (const listener of toNode) listener.call(server, socket);
      });
    },
  };
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => void open.add(new FastConnection(socket, fast)));
  const checking = setInterval(() => closeLate(server, fast, open), checkMs).unref();
  void whenClosed(server).then(() => clearInterval(checking));
  closeWithServer(server, open);
}

/** Hands a socket over to Node, which reads `bytes` first. */
function giveToNode(socket: Socket, bytes: Buffer, connect: (socket: Socket) => void): void {
  socket.pause();
  socket.unshift(bytes);
  connect(socket);
  socket.resume();
}

/** Ends connections that exceed a time limit: for their first request, for a body, or for the next request after an answer. */
function closeLate(server: Server, fast: FastServer, open: ReadonlySet<FastConnection>): void {
  const nowMs = performance.now();
  const idleMsMax = server.keepAliveTimeout + server.keepAliveTimeoutBuffer;
  for (const connection of open) {
    const { state, sinceMs, socket } = connection;
    const quietMs = nowMs - sinceMs;
    if (state === "fresh") {
      if (isOver(server.headersTimeout, quietMs)) fast.clientError(requestTimeout(), socket);
    } else if (connection.isReceiving) {
      if (isOver(server.requestTimeout, quietMs)) connection.fail(requestTimeout());
    } else if (state === "idle" && server.keepAliveTimeout > 0) {
      // Its idle time starts when its answer has left.
      if (socket.writableLength > 0) connection.sinceMs = nowMs;
      else if (quietMs > idleMsMax) socket.destroy();
    }
  }
}

/** True if a time is longer than its limit; a limit of 0 means none. Both in milliseconds. */
const isOver = (limitMs: number, ms: number): boolean => limitMs > 0 && ms > limitMs;

/** The same error as Node's. */
const requestTimeout = (): Error =>
  Object.assign(new Error("Request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });

/** Milliseconds after which a silent new connection carries no call: browsers and connection pools open some in advance. */
const freshMsMax = 1_000;

/** Makes the server's `closeIdleConnections` and `closeAllConnections` close these too; `server.close` uses the first. */
function closeWithServer(server: Server, open: ReadonlySet<FastConnection>): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  const closeAll = server.closeAllConnections.bind(server);
  server.closeIdleConnections = () => {
    const nowMs = performance.now();
    for (const { state, sinceMs, socket } of open)
      if (state === "idle" || (state === "fresh" && nowMs - sinceMs > freshMsMax)) socket.destroy();
    closeIdle();
  };
  server.closeAllConnections = () => {
    for (const { socket } of open) socket.destroy();
    closeAll();
  };
}

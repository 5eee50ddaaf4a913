/**
 * Puts the fast path in front of an HTTP server: what they do not answer reaches it as if they were not there. Time limits,
 * idle connections and the end of the server are as Node has them.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { whenClosed } from "../listeners.ts";
import { FastConnection, type FastServer, type Take } from "./connection.ts";
import { CommonLines } from "./head.ts";

interface FastPathOptions {
  /** Answers a request, or leaves it untouched and returns false. Must not throw. */
  readonly take: Take;
  /** True once the gateway stops. */
  readonly leaving: () => boolean;
  /** How often idle connections are looked at. */
  readonly checkMs: number;
}

type ConnectionListener = (this: Server, socket: Socket) => void;

/** Takes new connections first. Call it once, before the server listens; it ends with the server. */
export function installFastPath(server: Server, { take, leaving, checkMs }: FastPathOptions): void {
  const open = new Set<FastConnection>();
  const toNode = server.listeners("connection") as ConnectionListener[];
  const fast: FastServer = {
    take,
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

/** Node reads `bytes` first, then what comes. */
function giveToNode(socket: Socket, bytes: Buffer, connect: (socket: Socket) => void): void {
  socket.pause();
  socket.unshift(bytes);
  connect(socket);
  socket.resume();
}

/** Ends connections that have not said anything in time, or nothing more since their last answer, or are late with a body. */
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
      // It rests from when its answer has left.
      if (socket.writableLength > 0) connection.sinceMs = nowMs;
      else if (quietMs > idleMsMax) socket.destroy();
    }
  }
}

/** Whether a time is longer than its limit, where 0 is none. Both in milliseconds. */
const isOver = (limitMs: number, ms: number): boolean => limitMs > 0 && ms > limitMs;

/** Node's error for the same. */
const requestTimeout = (): Error =>
  Object.assign(new Error("Request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });

/** A connection that has said nothing for so long carries no call: browsers and pools open some ahead. */
const freshMsMax = 1_000;

/** The server's own ways to close connections close these too; `server.close` uses the first. */
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

/**
 * TLS in front of both front ends, where the operator has no proxy for it: a connection is taken as ever, and who answers it
 * sees what was decrypted. Certificates are replaced while the gateway runs: connections that are open keep theirs.
 * docs/operate.md "TLS".
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { createServer, type Server as TlsServer } from "node:tls";
import type { ServerTls } from "../../catalog/index.ts";
import { atIntervals } from "../../base/at-intervals.ts";
import type { Log } from "../../base/log.ts";
import { rawOf } from "./cut.ts";

/** Decrypts connections. */
export interface SecureDoor {
  /** Hands the connection on when its client has shown what it must; else it is closed. */
  take(raw: Socket, secured: (socket: Socket) => void): void;
  /** New connections get these from now on, unless they are wrong, which is logged. @returns whether they do */
  replace(tls: ServerTls): boolean;
  /** The server's own ways to close connections close those that have not been handed on, too. */
  closeWith(server: Server): void;
}

/** A client that takes longer for its handshake is slower than any network. */
const handshakeMs = 10_000;
/** One that was just made may carry a call: after so long it does not. */
const freshMsMax = 1_000;
const logMs = 10_000;

/** @throws Error where the certificate and the key are none */
export function createSecureDoor(initial: ServerTls, log: Log): SecureDoor {
  /** Connections in their handshake, and since when. */
  const underWay = new Map<Socket, number>();
  const failures = countFailures(log);
  let current = listen(initial, failures);

  const closeUnderWay = (quietMs: number): void => {
    const nowMs = performance.now();
    for (const [raw, sinceMs] of underWay) if (nowMs - sinceMs >= quietMs) raw.destroy();
  };
  return {
    take(raw, secured) {
      underWay.set(raw, performance.now());
      raw.once("close", () => underWay.delete(raw));
      waiting.set(raw, (socket) => {
        underWay.delete(raw);
        secured(socket);
      });
      current.emit("connection", raw);
    },
    replace(tls) {
      try {
        current = listen(tls, failures);
        log.info({ cert: tls.files.cert }, "new connections get the changed certificate");
        return true;
      } catch (error) {
        const reason = (error as Error).message;
        log.error(
          { cert: tls.files.cert, reason },
          "the changed certificate is wrong; the old one stays",
        );
        return false;
      }
    },
    closeWith(server) {
      const closeIdle = server.closeIdleConnections.bind(server);
      const closeAll = server.closeAllConnections.bind(server);
      server.closeIdleConnections = () => {
        closeUnderWay(freshMsMax);
        closeIdle();
      };
      server.closeAllConnections = () => {
        closeUnderWay(0);
        closeAll();
      };
    },
  };
}

/** What follows the handshake of a connection. */
const waiting = new WeakMap<Socket, (socket: Socket) => void>();

/** A TLS server that listens nowhere: it is given connections. @throws Error of OpenSSL */
function listen({ cert, key, clientCa }: ServerTls, failed: (error: Error) => void): TlsServer {
  const server = createServer({
    cert,
    key,
    // Both front ends speak HTTP/1.1.
    ALPNProtocols: ["http/1.1"],
    allowHalfOpen: true,
    handshakeTimeout: handshakeMs,
    ...(clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  });
  server.on("secureConnection", (socket) => {
    const raw = rawOf(socket);
    const next = raw && waiting.get(raw);
    if (next === undefined) socket.destroy();
    else next(socket);
  });
  server.on("tlsClientError", (error, socket) => {
    // Who only looks whether the port is open has begun none.
    if (rawOf(socket)?.bytesRead !== 0) failed(error);
    socket.destroy();
  });
  return server;
}

/** Says at most every ten seconds how many handshakes failed, and why the last one did. */
function countFailures(log: Log): (error: Error) => void {
  const counted = atIntervals(logMs);
  return (error) => {
    const count = counted();
    if (count === undefined) return;
    const { code } = error as NodeJS.ErrnoException;
    log.warn({ count, reason: code ?? error.message }, "TLS handshakes of clients failed");
  };
}

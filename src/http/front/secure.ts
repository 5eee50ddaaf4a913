/**
 * TLS in front of both front ends, for operators without a TLS proxy. It passes on the decrypted socket of a connection. Certificates
 * can be replaced while the gateway runs: open connections keep theirs. docs/network.md "TLS".
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { createServer, type Server as TlsServer } from "node:tls";
import type { ServerTls } from "../../catalog/index.ts";
import { throttleCounter } from "../../base/throttle-counter.ts";
import type { Log } from "../../base/log.ts";
import { tcpSocketOf } from "./reset-connection.ts";

/** Decrypts connections. */
export interface TlsTerminator {
  /** Passes the connection on after its handshake and client certificate check; closes it if these fail. */
  terminate(raw: Socket, secured: (socket: Socket) => void): void;
  /** Uses these certificates for new connections, unless they are invalid, which is logged. @returns true if they are used */
  replace(tls: ServerTls): boolean;
  /** Makes the server's methods that close connections also close those in their handshake. */
  closeWith(server: Server): void;
}

/** Time limit of a handshake: no network is slower. */
const handshakeMs = 10_000;
/** A connection younger than this may carry a call. */
const freshMsMax = 1_000;
const logMs = 10_000;

/** @throws Error where the certificate or the key is invalid */
export function createTlsTerminator(initial: ServerTls, log: Log): TlsTerminator {
  /** Connections in their handshake, with their start by `performance.now`. */
  const handshakes = new Map<Socket, number>();
  const failures = countFailures(log);
  let current = listen(initial, failures);

  const closeHandshakes = (quietMs: number): void => {
    const nowMs = performance.now();
    for (const [raw, sinceMs] of handshakes) if (nowMs - sinceMs >= quietMs) raw.destroy();
  };
  return {
    terminate(raw, secured) {
      handshakes.set(raw, performance.now());
      raw.once("close", () => handshakes.delete(raw));
      afterHandshake.set(raw, (socket) => {
        handshakes.delete(raw);
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
        closeHandshakes(freshMsMax);
        closeIdle();
      };
      server.closeAllConnections = () => {
        closeHandshakes(0);
        closeAll();
      };
    },
  };
}

/** The callback after the handshake of each connection. */
const afterHandshake = new WeakMap<Socket, (socket: Socket) => void>();

/** A TLS server that does not listen: connections are passed to it. @throws Error of OpenSSL */
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
    const raw = tcpSocketOf(socket);
    const next = raw && afterHandshake.get(raw);
    if (next === undefined) socket.destroy();
    else next(socket);
  });
  server.on("tlsClientError", (error, socket) => {
    // A port check that sends no bytes has begun no handshake.
    if (tcpSocketOf(socket)?.bytesRead !== 0) failed(error);
    socket.destroy();
  });
  return server;
}

/** Logs at most every ten seconds how many handshakes failed, and why the last one did. */
function countFailures(log: Log): (error: Error) => void {
  const counted = throttleCounter(logMs);
  return (error) => {
    const count = counted();
    if (count === undefined) return;
    const { code } = error as NodeJS.ErrnoException;
    log.warn({ count, reason: code ?? error.message }, "TLS handshakes of clients failed");
  };
}

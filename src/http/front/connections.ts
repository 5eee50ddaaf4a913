/**
 * Limits connections, in total and per address, for both front ends. A connection above a limit gets an HTTP error and is closed. A
 * connection whose client does not read is closed too (unread.ts).
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { throttleCounter } from "../../base/throttle-counter.ts";
import { limitedAddress, normalAddress, type TrustedProxies } from "../../base/client-address.ts";
import { overloaded, type GatewayError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { closeLingering } from "./lingering.ts";
import { whenClosed } from "./listeners.ts";
import { answerOnSocket } from "./malformed.ts";
import type { TlsTerminator } from "./secure.ts";
import { keepUnsentOpen } from "./unsent-output.ts";
import { UnreadWatch, type UnreadRules } from "./unread.ts";

export interface ConnectionRules extends UnreadRules {
  readonly totalMax: number;
  /** Per IPv4 address, or per IPv6 network of 64 bits. Loopback and trusted proxies stand for many callers, and are not limited. */
  readonly perAddressMax: number;
  /** Refused connections that may wait for their request at once: after it, the client surely reads the answer. */
  readonly refusedMax: number;
}

export interface ConnectionServices {
  readonly connections: ConnectionRules;
  readonly trustedProxies: TrustedProxies;
  readonly log: Log;
  /** Decrypts connections, if the gateway speaks TLS itself. */
  readonly secure?: TlsTerminator | undefined;
}

type ConnectionListener = (this: Server, socket: Socket) => void;

const checkMs = 250;
const refusedMs = 1_000;
const logMs = 10_000;

const totalError = overloaded(
  "The gateway has reached its limit of connections. Retry in a moment.",
);
const perAddressError = overloaded(
  "The gateway has reached its limit of connections from your address. Retry in a moment.",
);
/** For an operator whose callers come from few addresses. */
const perAddressFix =
  "if one server or proxy sends these: raise limits.connections.per_address, or name a proxy in TOLLGATE_TRUSTED_PROXIES";

/**
 * Installs the limits in front of all other `connection` listeners. Call it last, once, before the server listens; it ends with the
 * server.
 */
export function limitConnections(server: Server, services: ConnectionServices): void {
  const { connections: rules, trustedProxies, log, secure } = services;
  const open = new AdmittedConnections(rules, trustedProxies);
  const refused = new RefusedConnections(rules.refusedMax);
  const unread = new UnreadWatch(rules);
  /** The sockets that answers are written to. */
  const written = new Set<Socket>();
  const counts = { refused: 0, refused_per_address: 0, late: 0, crowded: 0 };
  const next = server.listeners("connection") as ConnectionListener[];
  server.removeAllListeners("connection");
  const enter = (socket: Socket): void => {
    written.add(socket);
    socket.once("close", () => {
      written.delete(socket);
      unread.forget(socket);
    });
    for (const listener of next) listener.call(server, socket);
  };
  server.on("connection", (socket: Socket) => {
    const error = open.add(socket);
    if (error !== undefined) {
      counts.refused += 1;
      if (error === perAddressError) counts.refused_per_address += 1;
      // A TLS handshake for the error would cost more than many calls.
      return secure === undefined ? refused.answer(socket, error) : void socket.destroy();
    }
    if (secure === undefined) enter(socket);
    else secure.terminate(socket, enter);
  });
  secure?.closeWith(server);
  keepUnsentOpen(server, written);
  const lines = throttleCounter(logMs);
  const checking = setInterval(() => {
    const closed = unread.closeStalled(written, performance.now());
    counts.late += closed.late;
    counts.crowded += closed.crowded;
    if (counts.refused + counts.late + counts.crowded === 0 || lines() === undefined) return;
    const fix = counts.refused_per_address > 0 ? { fix: perAddressFix } : {};
    log.warn({ ...counts, open: open.sockets.size, ...fix }, "connections were refused or closed");
    Object.assign(counts, { refused: 0, refused_per_address: 0, late: 0, crowded: 0 });
  }, checkMs).unref();
  void whenClosed(server).then(() => clearInterval(checking));
}

/** The admitted connections. */
class AdmittedConnections {
  readonly sockets = new Set<Socket>();
  readonly #byAddress = new Map<string, number>();
  readonly #rules: ConnectionRules;
  readonly #trusted: TrustedProxies;

  constructor(rules: ConnectionRules, trusted: TrustedProxies) {
    this.#rules = rules;
    this.#trusted = trusted;
  }

  /** Counts a connection until it closes. Returns the error if it is one too many. */
  add(socket: Socket): GatewayError | undefined {
    if (this.sockets.size >= this.#rules.totalMax) return totalError;
    const address = this.#addressOf(socket);
    const known = address === undefined ? 0 : (this.#byAddress.get(address) ?? 0);
    if (known >= this.#rules.perAddressMax) return perAddressError;
    this.sockets.add(socket);
    if (address !== undefined) this.#byAddress.set(address, known + 1);
    socket.once("close", () => {
      this.sockets.delete(socket);
      if (address !== undefined) this.#leave(address);
    });
    return undefined;
  }

  /** The address or network to count for; undefined if it has no limit. */
  #addressOf(socket: Socket): string | undefined {
    if (this.#rules.perAddressMax >= this.#rules.totalMax) return undefined;
    const address = normalAddress(socket.remoteAddress ?? "");
    return address === undefined ? undefined : limitedAddress(address, this.#trusted);
  }

  #leave(address: string): void {
    const left = this.#byAddress.get(address)! - 1;
    if (left === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, left);
  }
}

/** Answers refused connections. The error waits for the first bytes, whose path decides its shape. A silent connection is closed. */
class RefusedConnections {
  readonly #max: number;
  #waiting = 0;

  constructor(max: number) {
    this.#max = max;
  }

  answer(socket: Socket, error: GatewayError): void {
    socket.on("error", () => socket.destroy());
    if (this.#waiting >= this.#max) {
      answerOnSocket(socket, error, "");
      socket.destroySoon();
      return;
    }
    this.#waiting += 1;
    const late = setTimeout(() => socket.destroy(), refusedMs);
    socket.once("close", () => {
      this.#waiting -= 1;
      clearTimeout(late);
    });
    socket.once("data", (first: Buffer) => {
      answerOnSocket(socket, error, first.toString("latin1", 0, 2048));
      closeLingering(socket);
    });
    socket.once("end", () => socket.end());
  }
}

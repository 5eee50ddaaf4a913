/** The TLS of connections to one host: trusted authorities, client certificate, and sessions that shorten handshakes. */
import { isIP } from "node:net";
import {
  connect,
  createSecureContext,
  type ConnectionOptions,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { ProviderTls } from "../../catalog/index.ts";

export class TlsSide {
  readonly #fixed: ConnectionOptions;
  /** The session of the last handshake, to shorten the next one. */
  #session: Buffer | undefined;

  /** `hostname` has no brackets. Without `tls`, the system's authorities are trusted. */
  constructor(hostname: string, tls?: ProviderTls) {
    const name = tls?.serverName ?? (isIP(hostname) === 0 ? hostname : undefined);
    this.#fixed = {
      // Needed even with a given socket: the certificate is checked against it.
      host: hostname,
      ALPNProtocols: ["http/1.1"],
      ...(name === undefined ? {} : { servername: name }),
      ...(tls && { secureContext: contextOf(tls) }),
    };
  }

  /** Starts a handshake, on a new connection or on `socket`. `opened` is called after the certificate is checked. */
  connect(options: ConnectionOptions, opened: () => void): TLSSocket {
    const session = this.#session === undefined ? {} : { session: this.#session };
    const socket = connect({ ...options, ...this.#fixed, ...session }, opened);
    // Runs before Node's check: after it, the dates of a refused certificate cannot be read.
    socket.prependOnceListener("secure", () => noteDates(socket));
    return socket.on("session", (last: Buffer) => void (this.#session = last));
  }
}

const contextOf = ({ ca, cert, key }: ProviderTls): SecureContext =>
  createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
  });

/** Adds the certificate's validity dates to an error of this socket. */
function noteDates(socket: TLSSocket): void {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return;
  const { validFrom, validTo } = certificate;
  socket.prependOnceListener("error", (error) => Object.assign(error, { validFrom, validTo }));
}

/** Options of sockets to origins and proxies. The system probes a silent one after the same time as with undici. */
export const socketOptions = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
} as const;

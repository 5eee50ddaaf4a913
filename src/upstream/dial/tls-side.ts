/** The TLS of connections to one host: whom it trusts, as whom it shows itself, and the sessions that shorten a handshake. */
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
  /** Of the last handshake, so that the next one is shorter. */
  #session: Buffer | undefined;

  /** `hostname` without brackets. Without `tls`, the authorities of the system count. */
  constructor(hostname: string, tls?: ProviderTls) {
    const name = tls?.serverName ?? (isIP(hostname) === 0 ? hostname : undefined);
    this.#fixed = {
      // Also where a socket is given: the certificate is checked against it.
      host: hostname,
      ALPNProtocols: ["http/1.1"],
      ...(name === undefined ? {} : { servername: name }),
      ...(tls && { secureContext: contextOf(tls) }),
    };
  }

  /** Begins a handshake, on a new connection or on `socket`. `opened` is called once the certificate is checked. */
  connect(options: ConnectionOptions, opened: () => void): TLSSocket {
    const session = this.#session === undefined ? {} : { session: this.#session };
    const socket = connect({ ...options, ...this.#fixed, ...session }, opened);
    // Before Node checks it: afterwards a refused certificate cannot be asked for its dates.
    socket.prependOnceListener("secure", () => noteDates(socket));
    return socket.on("session", (last: Buffer) => void (this.#session = last));
  }
}

const contextOf = ({ ca, cert, key }: ProviderTls): SecureContext =>
  createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
  });

/** An error of this socket's certificate says when the certificate is good. */
function noteDates(socket: TLSSocket): void {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return;
  const { validFrom, validTo } = certificate;
  socket.prependOnceListener("error", (error) => Object.assign(error, { validFrom, validTo }));
}

/** How sockets to origins and proxies are set up. A silent one is probed by the system after as long as undici has it. */
export const socketOptions = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
} as const;

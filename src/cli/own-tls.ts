/** The gateway's own TLS, with the certificate of the current configuration. docs/network.md "TLS". */
import type { Log } from "../base/log.ts";
import type { ServerTls, Settings } from "../catalog/index.ts";
import { createTlsTerminator } from "../http/index.ts";

type TlsTerminator = ReturnType<typeof createTlsTerminator>;

const isSame = (one: ServerTls, other: ServerTls): boolean =>
  one.cert === other.cert && one.key === other.key && one.clientCa === other.clientCa;

export interface OwnTls {
  /** Creates the part that decrypts connections; undefined if the gateway speaks plain HTTP. */
  open(settings: Settings): TlsTerminator | undefined;
  /** Call it when the configuration, or a file that it names, has changed. Whether TLS is used at all is decided at the start. */
  follow(settings: Settings): void;
  /** Expiry of the certificate for new connections, in Unix milliseconds; undefined if the gateway speaks plain HTTP. */
  expiresMs(): number | undefined;
}

/** Creates the TLS state; one for each process that takes connections. */
export function createOwnTls(log: Log): OwnTls {
  let terminator: TlsTerminator | undefined;
  let current: ServerTls | undefined;
  let expiresMs: number | undefined;
  return {
    open({ server: { tls } }) {
      current = tls;
      expiresMs = tls?.expiresMs;
      terminator = tls && createTlsTerminator(tls, log);
      return terminator;
    },
    follow({ server: { tls } }) {
      if (terminator === undefined || current === undefined || tls === undefined) return;
      if (isSame(tls, current)) return;
      current = tls;
      if (terminator.replace(tls)) ({ expiresMs } = tls);
    },
    expiresMs: () => expiresMs,
  };
}

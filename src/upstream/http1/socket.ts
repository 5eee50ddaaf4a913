/**
 * Sockets to one origin, over TCP or TLS. Bytes are read into one buffer that all of them share, because each read is looked
 * at before the next one: nothing is allocated for a read, and none waits in a stream.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { publicLookup } from "../guarded-address.ts";

const readBytesMax = 64 * 1024;
/** How long a silent connection waits before the system probes it. As undici has it. */
const probeAfterMs = 60_000;

const shared = Buffer.allocUnsafeSlow(readBytesMax);

/** Takes one read: `buffer[0..length)`, which is overwritten once it returns. */
type OnRead = (buffer: Buffer, length: number) => void;

/** Opens sockets to an origin such as `https://api.example.com`. */
export class Dialler {
  /** What the header `Host` says. */
  readonly host: string;
  readonly #hostname: string;
  readonly #port: number;
  readonly #isTls: boolean;
  /** Of the last TLS handshake, so that the next one is shorter. */
  #session: Buffer | undefined;

  readonly #guarded: boolean;

  /** `guarded`: connections go to public addresses only. */
  constructor(origin: string, guarded: boolean) {
    this.#guarded = guarded;
    const { protocol, host, hostname, port } = new URL(origin);
    this.#isTls = protocol === "https:";
    this.host = host;
    this.#hostname = hostname.replace(/^\[|\]$/g, "");
    this.#port = port === "" ? (this.#isTls ? 443 : 80) : Number(port);
  }

  /** Begins to connect. `opened` is called when bytes may be sent, over TLS once the certificate is checked. */
  open(onRead: OnRead, opened: () => void): Socket {
    const options = {
      host: this.#hostname,
      port: this.#port,
      ...(this.#guarded && { lookup: publicLookup }),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: probeAfterMs,
      onread: {
        buffer: shared,
        callback: (length: number) => {
          onRead(shared, length);
          return true;
        },
      },
    };
    if (!this.#isTls) return connectTcp(options, opened);
    const name = isIP(this.#hostname) === 0 ? { servername: this.#hostname } : {};
    const session = this.#session === undefined ? {} : { session: this.#session };
    const socket = connectTls(
      { ...options, ...name, ...session, ALPNProtocols: ["http/1.1"] },
      opened,
    );
    return socket.on("session", (last: Buffer) => void (this.#session = last));
  }
}

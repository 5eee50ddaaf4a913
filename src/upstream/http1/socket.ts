/**
 * Sockets to one origin, over TCP or TLS, directly or through a proxy. Where a socket is ours from the beginning, bytes are read
 * into one buffer that all of them share, because each read is looked at before the next one: nothing is allocated for a read,
 * and none waits in a stream.
 */
import { connect as connectTcp, type Socket } from "node:net";
import type { Proxy } from "../../base/proxy.ts";
import { vendorLookup } from "../dial/vendor-lookup.ts";
import { directly, type Way } from "../dial/way.ts";
import { insideFault, publicLookup } from "../dial/public-lookup.ts";
import { socketOptions, TlsSide } from "../dial/tls-side.ts";
import { openProxy, openTunnel, unreachable } from "../dial/tunnel.ts";

const readBytesMax = 64 * 1024;

const shared = Buffer.allocUnsafeSlow(readBytesMax);

/** What a socket tells whoever opened it. */
export interface Hearer {
  /** One read: `buffer[0..length)`, which is overwritten once this returns. */
  read(buffer: Buffer, length: number): void;
  /** Bytes may be sent, over TLS once the certificate is checked. */
  opened(): void;
  /** From now on this socket stands in place of the one that was given out. */
  moved(socket: Socket): void;
  failed(error: Error): void;
  ended(): void;
  closed(): void;
}

/** Opens sockets to an origin such as `https://api.example.com`. */
export class Dialler {
  /** What the header `Host` says. */
  readonly host: string;
  /** What stands before the path of a request, where a proxy reads it; empty where the server does. */
  readonly target: string;
  /** The proxy that reads the requests and passes them on; undefined where only the server does. */
  readonly forwarder: Proxy | undefined;
  readonly #hostname: string;
  readonly #port: number;
  readonly #way: Way;
  /** Absent for plain HTTP. */
  readonly #tls: TlsSide | undefined;

  constructor(origin: string, way: Way = directly) {
    const { protocol, host, hostname, port } = new URL(origin);
    const isTls = protocol === "https:";
    this.host = host;
    this.#hostname = hostname.replace(/^\[|\]$/g, "");
    this.#port = port === "" ? (isTls ? 443 : 80) : Number(port);
    this.#way = way;
    this.#tls = isTls ? new TlsSide(this.#hostname, way.tls) : undefined;
    this.forwarder = isTls ? undefined : way.proxy;
    this.target = this.forwarder ? origin : "";
  }

  /** What that proxy wants to see; undefined for nothing. */
  get authorization(): string | undefined {
    return this.forwarder?.authorization;
  }

  /** Begins to connect. @throws ExchangeError where it may not */
  open(hearer: Hearer): Socket {
    const { proxy, guarded } = this.#way;
    const inside = guarded ? insideFault(this.#hostname) : undefined;
    if (inside) throw inside;
    if (proxy !== undefined && this.#tls !== undefined) {
      return openTunnel(proxy, { hostname: this.#hostname, port: this.#port }, (error, socket) =>
        error ? hearer.failed(error) : this.#secure(socket, hearer),
      );
    }
    const options = {
      ...socketOptions,
      onread: {
        buffer: shared,
        callback: (length: number) => {
          hearer.read(shared, length);
          return true;
        },
      },
    };
    let isOpen = false;
    const opened = (): void => {
      isOpen = true;
      hearer.opened();
    };
    if (proxy !== undefined) {
      const failed = (error: Error): void =>
        hearer.failed(isOpen ? error : unreachable(proxy, error));
      return heard(openProxy(proxy, opened, options), { ...hearer, failed });
    }
    const lookup = guarded ? publicLookup : vendorLookup;
    const place = { ...options, lookup, host: this.#hostname, port: this.#port };
    const socket = this.#tls?.connect(place, opened) ?? connectTcp(place, opened);
    return heard(socket, hearer);
  }

  /** TLS through a tunnel. Node reads such a socket into buffers of its own. */
  #secure(tunnel: Socket, hearer: Hearer): void {
    const socket = this.#tls!.connect({ socket: tunnel }, () => hearer.opened());
    socket.on("data", (bytes: Buffer) => hearer.read(bytes, bytes.length));
    hearer.moved(heard(socket, hearer));
  }
}

const heard = (socket: Socket, hearer: Hearer): Socket =>
  socket
    .on("error", (error) => hearer.failed(error))
    .on("end", () => hearer.ended())
    .on("close", () => hearer.closed());

/**
 * Opens sockets to one origin, over TCP or TLS, directly or through a proxy. Sockets that we open ourselves read into one shared buffer,
 * because each read is handled before the next one. So no read allocates memory or waits in a stream.
 */
import { connect as connectTcp, type Socket } from "node:net";
import type { Proxy } from "../../base/proxy.ts";
import { vendorLookup } from "../dial/vendor-lookup.ts";
import { directRoute, type DialRoute } from "../dial/dial-route.ts";
import { insideFault, publicLookup } from "../dial/public-lookup.ts";
import { socketOptions, TlsSide } from "../dial/tls-side.ts";
import { openProxy, openTunnel, unreachable } from "../dial/tunnel.ts";

const readBytesMax = 64 * 1024;

const shared = Buffer.allocUnsafeSlow(readBytesMax);

/** Callbacks of a socket. */
export interface SocketHandlers {
  /** One read: `buffer[0..length)`, which is overwritten after this returns. */
  read(buffer: Buffer, length: number): void;
  /** The socket is ready to send; over TLS, the certificate is checked. */
  opened(): void;
  /** This socket replaces the one that `open` returned. */
  moved(socket: Socket): void;
  failed(error: Error): void;
  ended(): void;
  closed(): void;
}

/** Opens sockets to an origin such as `https://api.example.com`. */
export class Dialler {
  /** The header `Host`. */
  readonly host: string;
  /** The prefix of a request's path if a proxy reads it; otherwise empty. */
  readonly target: string;
  /** The proxy that reads the requests and forwards them; undefined if only the server reads them. */
  readonly forwarder: Proxy | undefined;
  readonly #hostname: string;
  readonly #port: number;
  readonly #dialRoute: DialRoute;
  /** Absent for plain HTTP. */
  readonly #tls: TlsSide | undefined;

  constructor(origin: string, dialRoute: DialRoute = directRoute) {
    const { protocol, host, hostname, port } = new URL(origin);
    const isTls = protocol === "https:";
    this.host = host;
    this.#hostname = hostname.replace(/^\[|\]$/g, "");
    this.#port = port === "" ? (isTls ? 443 : 80) : Number(port);
    this.#dialRoute = dialRoute;
    this.#tls = isTls ? new TlsSide(this.#hostname, dialRoute.tls) : undefined;
    this.forwarder = isTls ? undefined : dialRoute.proxy;
    this.target = this.forwarder ? origin : "";
  }

  /** The `proxy-authorization` for that proxy, if any. */
  get authorization(): string | undefined {
    return this.forwarder?.authorization;
  }

  /** Begins to connect. @throws ExchangeError if the address is not allowed */
  open(handlers: SocketHandlers): Socket {
    const { proxy, guarded } = this.#dialRoute;
    const inside = guarded ? insideFault(this.#hostname) : undefined;
    if (inside) throw inside;
    if (proxy !== undefined && this.#tls !== undefined) {
      return openTunnel(proxy, { hostname: this.#hostname, port: this.#port }, (error, socket) =>
        error ? handlers.failed(error) : this.#secure(socket, handlers),
      );
    }
    const options = {
      ...socketOptions,
      onread: {
        buffer: shared,
        callback: (length: number) => {
          handlers.read(shared, length);
          return true;
        },
      },
    };
    let isOpen = false;
    const opened = (): void => {
      isOpen = true;
      handlers.opened();
    };
    if (proxy !== undefined) {
      const failed = (error: Error): void =>
        handlers.failed(isOpen ? error : unreachable(proxy, error));
      return attachHandlers(openProxy(proxy, opened, options), { ...handlers, failed });
    }
    const lookup = guarded ? publicLookup : vendorLookup;
    const place = { ...options, lookup, host: this.#hostname, port: this.#port };
    const socket = this.#tls?.connect(place, opened) ?? connectTcp(place, opened);
    return attachHandlers(socket, handlers);
  }

  /** Starts TLS through a tunnel. Node reads such a socket into its own buffers. */
  #secure(tunnel: Socket, handlers: SocketHandlers): void {
    const socket = this.#tls!.connect({ socket: tunnel }, () => handlers.opened());
    socket.on("data", (bytes: Buffer) => handlers.read(bytes, bytes.length));
    handlers.moved(attachHandlers(socket, handlers));
  }
}

const attachHandlers = (socket: Socket, handlers: SocketHandlers): Socket =>
  socket
    .on("error", (error) => handlers.failed(error))
    .on("end", () => handlers.ended())
    .on("close", () => handlers.closed());

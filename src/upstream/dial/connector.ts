/** Opens sockets for undici, like those of our own client: directly or through a proxy, with the provider's TLS. */
import { connect as connectTcp, type Socket } from "node:net";
import type { buildConnector } from "undici";
import type { ResolvedAddress } from "../names.ts";
import { asFault, lateConnection } from "./faults.ts";
import { insideFault, publicLookup, pinned } from "./public-lookup.ts";
import { socketOptions, TlsSide } from "./tls-side.ts";
import { vendorLookup } from "./vendor-lookup.ts";
import { openProxy, openTunnel, unreachable } from "./tunnel.ts";
import type { DialRoute } from "./dial-route.ts";

/** Bytes that undici reads at once. */
const highWaterMark = 64 * 1024;

/**
 * Returns a connector to one origin. A connection that takes longer than `connectMs` fails with `ETIMEDOUT`. With `addresses` it connects
 * only to those, also through a proxy; plain HTTP through a proxy is then tunnelled.
 */
export function connectorOf(
  origin: string,
  { proxy, tls, guarded, tunnels = false, isOther }: DialRoute,
  connectMs: number,
  addresses?: readonly ResolvedAddress[],
): buildConnector.connector {
  const { protocol, host, hostname: bracketed, port: given } = new URL(origin);
  const isTls = protocol === "https:";
  const hostname = bracketed.replace(/^\[|\]$/g, "");
  const port = given === "" ? (isTls ? 443 : 80) : Number(given);
  const side = isTls ? new TlsSide(hostname, tls) : undefined;
  const inside = guarded ? insideFault(hostname) : undefined;
  if (inside) return (_options, callback) => callback(inside, null);
  return (_options, callback) => {
    let current: Socket | undefined;
    let isOver = false;
    const end = (error: Error | undefined, socket: Socket): void => {
      // A tunnel that was given up reports its own end too.
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.removeListener("error", failed).removeListener("close", closed);
      if (error === undefined) return callback(null, socket);
      socket.on("error", () => undefined).destroy();
      callback(asFault(error, host, { isOther }), null);
    };
    const isForwarded = proxy !== undefined && !side && !addresses && !tunnels;
    const failed = (error: Error): void =>
      end(isForwarded ? unreachable(proxy, error) : error, current!);
    const closed = (): void => failed(Object.assign(new Error("closed"), { code: "ECONNRESET" }));
    const use = (socket: Socket): void => {
      current = socket.on("error", failed).on("close", closed);
    };
    const opened = (): void => end(undefined, current!);
    const timer = setTimeout(() => failed(lateConnection()), connectMs);
    if (proxy && !isForwarded) {
      const place = { hostname: addresses?.[0]?.address ?? hostname, port };
      current = openTunnel(proxy, place, (error, tunnel) => {
        if (error) end(error, tunnel);
        else if (side) use(side.connect({ socket: tunnel }, opened));
        else end(undefined, tunnel);
      });
    } else if (proxy) use(openProxy(proxy, opened));
    else {
      const lookup = addresses ? pinned(addresses) : guarded ? publicLookup : vendorLookup;
      const place = {
        ...socketOptions,
        highWaterMark,
        host: hostname,
        port,
        lookup,
      };
      use(side?.connect(place, opened) ?? connectTcp(place, opened));
    }
  };
}

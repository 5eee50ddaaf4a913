/**
 * Tunnels through a proxy: a connection to it, and `CONNECT` (RFC 9110 section 9.3.6). The result is a socket to the host behind the proxy,
 * on which nothing was sent or read yet.
 */
import { connect as connectTcp, type OnReadOpts, type Socket } from "node:net";
import { inBrackets } from "../../base/listening-host.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import type { Proxy } from "../../base/proxy.ts";
import { MalformedAnswerError, parseHead } from "../http1/head.ts";
import { socketOptions, TlsSide } from "./tls-side.ts";

/** A proxy cannot be reached, or refuses the connection. `code` is one of the table (faults.ts); `proxy` its address. */
export class ProxyError extends Error {
  override name = "ProxyError";
  readonly code: string;
  readonly proxy: string;

  constructor(code: string, { shown }: Proxy, cause?: unknown) {
    super(`${code} ${shown}${cause instanceof Error ? `: ${cause.message}` : ""}`, { cause });
    this.code = code;
    this.proxy = shown;
  }
}

/** The status of a proxy that requires other credentials. */
export const proxyRefusal = 407;
export const refusedBy = (proxy: Proxy): ProxyError =>
  new ProxyError(`PROXY_${proxyRefusal}`, proxy);

/** The error of a proxy that cannot be reached. */
export const unreachable = (proxy: Proxy, error: Error): ProxyError =>
  new ProxyError("PROXY_UNREACHABLE", proxy, error);

/** The target of a tunnel. */
export interface Place {
  /** A name, which the proxy resolves, or an address; IPv6 without brackets. */
  readonly hostname: string;
  readonly port: number;
}

type Done = (error: Error | undefined, socket: Socket) => void;

const sideOf = memoizeByObject(({ hostname }: Proxy) => new TlsSide(hostname));

/** Opens a connection to a proxy. `opened` is called when bytes may be sent to it. */
export function openProxy(
  proxy: Proxy,
  opened: () => void,
  { onread }: { readonly onread?: OnReadOpts } = {},
): Socket {
  const { hostname, port } = proxy;
  const options = { ...socketOptions, ...(onread && { onread }), host: hostname, port };
  return proxy.isTls ? sideOf(proxy).connect(options, opened) : connectTcp(options, opened);
}

/**
 * Opens a tunnel. `done` is called once: without an error when the socket leads to the target. If the caller destroys the socket before,
 * `done` gets an error too.
 */
export function openTunnel(proxy: Proxy, place: Place, done: Done): Socket {
  const socket = openProxy(proxy, () => {
    isOpen = true;
    socket.write(request(proxy, place));
  });
  let isOpen = false;
  let head = "";
  const end = (error?: Error): void => {
    socket.removeListener("readable", read);
    socket.removeListener("error", failed);
    socket.removeListener("close", closed);
    // The new owner listens from now on; a socket that is given up may still fail.
    if (error) socket.on("error", () => undefined).destroy();
    done(error, socket);
  };
  const failed = (error: Error): void => end(unreachable(proxy, error));
  const closed = (): void =>
    end(new ProxyError(isOpen ? "PROXY_CLOSED" : "PROXY_UNREACHABLE", proxy));
  const read = (): void => {
    for (let chunk = take(socket); chunk !== null; chunk = take(socket)) {
      head += chunk.toString("latin1");
      const outcome = outcomeOf(head, proxy);
      if (outcome !== "more") return end(outcome);
    }
  };
  return socket.on("error", failed).on("close", closed).on("readable", read);
}

const take = (socket: Socket): Buffer | null => socket.read() as Buffer | null;

/** Reads the proxy's answer: an error, or undefined if the tunnel is open. */
function outcomeOf(head: string, proxy: Proxy): "more" | Error | undefined {
  try {
    const answer = parseHead(head, 0);
    if (answer === undefined) return "more";
    const { status, end } = answer;
    if (status < 200) return outcomeOf(head.slice(end), proxy);
    if (status >= 300) return new ProxyError(`PROXY_${status}`, proxy);
    // The host waits for the client to send first: earlier bytes are not the host's.
    return head.length === end ? undefined : new ProxyError("PROXY_MALFORMED", proxy);
  } catch (error) {
    if (error instanceof MalformedAnswerError)
      return new ProxyError("PROXY_MALFORMED", proxy, error);
    throw error;
  }
}

function request({ authorization }: Proxy, { hostname, port }: Place): string {
  const authority = `${inBrackets(hostname)}:${port}`;
  const allowed = authorization === undefined ? "" : `proxy-authorization: ${authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${allowed}\r\n`;
}

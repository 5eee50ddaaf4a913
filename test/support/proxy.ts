/** A forward proxy as companies have them: `CONNECT` and absolute form, with a password, over HTTP or HTTPS. It records requests. */
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TestCertificate } from "./certificate.ts";
import { endServer, listenOnLoopback } from "./loopback.ts";

export interface ProxyOptions {
  /** `user:password`; open to everyone if absent. */
  readonly user?: string;
  readonly certificate?: TestCertificate;
  /** Status with which it answers `CONNECT` instead of connecting. */
  readonly refuses?: number;
  /** Overrides the address to which it connects. */
  readonly to?: (authority: string) => { readonly host: string; readonly port: number };
}

export interface TestProxy {
  /** The proxy's URL, with its user. */
  readonly url: string;
  readonly port: number;
  /** How many connections clients have opened. */
  connections(): number;
  /** `CONNECT host:port` or `POST http://host/path`, in order. */
  readonly asked: string[];
  /** The headers of each request. */
  readonly headers: IncomingMessage["headers"][];
  close(): Promise<void>;
}

/** Starts a proxy on loopback. */
export async function startProxy(options: ProxyOptions = {}): Promise<TestProxy> {
  const { user, certificate, refuses, to } = options;
  const asked: string[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const sockets = new Set<Duplex>();
  const isAllowed = (incoming: IncomingMessage): boolean =>
    user === undefined ||
    incoming.headers["proxy-authorization"] === `Basic ${Buffer.from(user).toString("base64")}`;
  const note = (incoming: IncomingMessage): void => {
    asked.push(`${incoming.method} ${incoming.url}`);
    headers.push(incoming.headers);
  };
  const server: Server = certificate ? createTlsServer(certificate) : createServer();
  server.on("request", (incoming, outgoing) => {
    note(incoming);
    if (!isAllowed(incoming)) {
      outgoing.writeHead(407, { "proxy-authenticate": "Basic" }).end("log in");
      return;
    }
    const url = new URL(incoming.url!);
    const place = to?.(url.host) ?? { host: url.hostname, port: Number(url.port || 80) };
    const path = url.pathname + url.search;
    const { "proxy-authorization": _own, ...passed } = incoming.headers;
    const onward = request(
      { ...place, path, method: incoming.method!, headers: passed },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on("error", () => outgoing.writeHead(502).end());
    incoming.pipe(onward);
  });
  server.on("connect", (incoming, socket: Duplex) => {
    note(incoming);
    sockets.add(socket);
    socket.on("error", () => undefined);
    const status = isAllowed(incoming) ? refuses : 407;
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} no\r\ncontent-length: 2\r\n\r\nno`);
      return;
    }
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const place = to?.(incoming.url!) ?? {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 80),
    };
    const onward: Socket = connect(place, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    sockets.add(onward);
    onward.on("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    socket.on("close", () => onward.destroy());
    onward.on("close", () => socket.destroy());
  });
  let connections = 0;
  server.on("connection", () => (connections += 1));
  const port = await listenOnLoopback(server);
  const at = `127.0.0.1:${port}`;
  return {
    url: `${certificate ? "https" : "http"}://${user === undefined ? "" : `${user}@`}${at}`,
    port,
    connections: () => connections,
    asked,
    headers,
    async close() {
      for (const socket of sockets) socket.destroy();
      await endServer(server);
    },
  };
}

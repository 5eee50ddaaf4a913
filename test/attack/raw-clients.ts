/** Many connections of one attacker, each with one request: plain sockets, without the rules of a client library. */
import { connect, type Socket } from "node:net";

export interface RawClient {
  readonly socket: Socket;
  /** The answer so far, at most its first 64 KiB. */
  text(): string;
  /** The status of the answer, once its first line has arrived. */
  status(): number | undefined;
  readonly closed: () => boolean;
}

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const keptMax = 65_536;

/** The bytes of one request. */
export function bytesOf({ method, path, headers = {}, body }: RawRequest): string {
  const lines = Object.entries({
    host: "gateway",
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": `${Buffer.byteLength(body)}` }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const verb = method ?? (body === undefined ? "GET" : "POST");
  return `${verb} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`;
}

/** Connects to `url` and sends `request`. With `reads: false` it reads no byte of the answer. */
export function openRaw(url: string, request: RawRequest, { reads = true } = {}): RawClient {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = "";
  let closed = false;
  socket.on("error", () => undefined);
  socket.on("close", () => (closed = true));
  socket.on("end", () => socket.end());
  if (reads)
    socket.on("data", (bytes: Buffer) => {
      if (text.length < keptMax) text += bytes.toString("latin1");
    });
  socket.write(bytesOf(request));
  return {
    socket,
    text: () => text,
    status: () => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      return status === undefined ? undefined : Number(status);
    },
    closed: () => closed,
  };
}

/** Destroys all connections. */
export function closeAll(clients: readonly RawClient[]): void {
  for (const { socket } of clients) socket.destroy();
}

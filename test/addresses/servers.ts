/** Servers and resolvers for the tests of the guard. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import { join } from "node:path";
import { setDefaultCACertificates, getCACertificates } from "node:tls";
import type { Resolve, ResolvedAddress } from "../../src/upstream/index.ts";
import { temporaryDirectory } from "../support/postgres.ts";

export interface TestServer {
  readonly port: number;
  /** The number of connections that it has accepted. */
  connections(): number;
  close(): Promise<void>;
}

async function started(
  server: TcpServer | Server,
  host: string,
  port: number,
): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  server.on("connection", (socket: Socket) => {
    count += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** An HTTP server on a loopback address. */
export const serve = (
  listener: RequestListener,
  host = "127.0.0.1",
  port = 0,
): Promise<TestServer> => started(createServer(listener), host, port);

/** A TCP server that writes arbitrary bytes. */
export const serveRaw = (talk: (socket: Socket) => void): Promise<TestServer> =>
  started(
    createTcpServer((socket) => socket.once("data", () => talk(socket))),
    "127.0.0.1",
    0,
  );

/** An HTTPS server for a host name, with a certificate that this process trusts. */
export async function serveTls(name: string, listener: RequestListener): Promise<TestServer> {
  const directory = temporaryDirectory();
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", "-x509", ...made, "-keyout", key, "-out", cert, ...subject], {
    stdio: "ignore",
  });
  setDefaultCACertificates([...getCACertificates("default"), readFileSync(cert, "utf8")]);
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, listener);
  return started(server, "127.0.0.1", 0);
}

const resolved = (address: string): ResolvedAddress => ({
  address,
  family: address.includes(":") ? 6 : 4,
});

/** A resolver that gives each name its answers in turn and repeats the last one. Other names do not exist. */
export function resolver(
  names: Readonly<Record<string, readonly (readonly string[])[]>>,
): Resolve & { readonly asked: string[] } {
  const asked: string[] = [];
  const resolve: Resolve = async (hostname) => {
    const answers = names[hostname];
    const before = asked.filter((one) => one === hostname).length;
    asked.push(hostname);
    const answer = answers?.[Math.min(before, answers.length - 1)];
    if (answer === undefined) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    return answer.map(resolved);
  };
  return Object.assign(resolve, { asked });
}

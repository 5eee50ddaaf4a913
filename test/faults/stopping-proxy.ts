/** A TCP proxy in front of PostgreSQL that reports when a connection is inside a transaction, before its client gets the answer. */
import { connect, createServer, type Socket } from "node:net";
import { listenBefore } from "../support/tcp-proxy.ts";

export interface StoppingProxy {
  /** The connection string of the database through the proxy. */
  readonly url: string;
  /** Resolves when the server has run a statement that matches `needle`. `stop` ran before its answer was passed on to the client. */
  inside(needle: RegExp, stop: () => void): Promise<void>;
  close(): void;
}

interface Trap {
  readonly needle: RegExp;
  readonly spring: () => void;
}

export async function startStoppingProxy(url: string): Promise<StoppingProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let trap: Trap | undefined;

  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    let isInside = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("data", (bytes: Buffer) => {
      if (trap?.needle.test(bytes.toString("latin1")) === true) isInside = true;
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (isInside) trap?.spring();
      isInside = false;
      client.write(bytes);
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  const before = await listenBefore(server, target);
  return {
    url: before,
    inside: (needle, stop) =>
      new Promise((resolve) => {
        const spring = () => {
          trap = undefined;
          stop();
          resolve();
        };
        trap = { needle, spring };
      }),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

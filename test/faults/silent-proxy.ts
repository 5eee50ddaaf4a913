/** A TCP proxy in front of PostgreSQL that can silence its connections, as when the server's host is gone. */
import { connect, createServer, type Socket } from "node:net";
import { listenBefore } from "../support/tcp-proxy.ts";

export interface SilentProxy {
  /** The connection string of the database through the proxy. */
  readonly url: string;
  /** Silences the open connections without closing them; new ones work. Returns how many there are. */
  silence(): number;
  /** Sets whether new connections are accepted; if not, they wait forever, as for a host that is gone. */
  takeNew(taken: boolean): void;
  close(): void;
}

export async function startSilentProxy(url: string): Promise<SilentProxy> {
  const target = new URL(url);
  const open = new Set<Socket>();
  const silent = new Set<Socket>();

  let isOpen = true;

  const server = createServer({ noDelay: true }, (client) => {
    if (!isOpen) {
      silent.add(client);
      client.on("error", () => undefined);
      return;
    }
    const upstream = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    open.add(client);
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    const pass = (from: Socket, to: Socket): void => {
      from.on("data", (bytes: Buffer) => silent.has(client) || to.write(bytes));
      from.on("close", () => {
        open.delete(client);
        if (!silent.has(client)) to.destroy();
      });
    };
    pass(client, upstream);
    pass(upstream, client);
  });
  const before = await listenBefore(server, target);
  return {
    url: before,
    silence() {
      for (const client of open) silent.add(client);
      return open.size;
    },
    takeNew: (taken) => void (isOpen = taken),
    close() {
      server.close();
      for (const client of [...open, ...silent]) client.destroy();
    },
  };
}

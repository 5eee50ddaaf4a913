/**
 * A connection pooler like PgBouncer. It refuses unknown startup parameters. In transaction mode it gives each transaction the
 * server session that was used last. It accepts every user, as test servers do.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { listenBefore } from "./tcp-proxy.ts";

export interface Pooler {
  /** The connection string of the database through the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

const known = /^(?:user|database|client_encoding|datestyle|timezone|application_name)$/i;

const packet = (kind: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(kind), length, body]);
};
const welcome = Buffer.concat([packet("R", Buffer.alloc(4)), packet("Z", Buffer.from("I"))]);
const refusal = (words: string): Buffer =>
  packet("E", Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${words}\0\0`));

/** Splits a stream into whole packets. The first packet of a client has no kind byte. */
function packets(take: (one: Buffer) => void, hasKind: boolean): (bytes: Buffer) => void {
  let [rest, at] = [Buffer.alloc(0), hasKind ? 1 : 0];
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= at + 4 && rest.length >= at + rest.readInt32BE(at)) {
      const end = at + rest.readInt32BE(at);
      take(rest.subarray(0, end));
      [rest, at] = [rest.subarray(end), 1];
    }
  };
}

interface Session {
  readonly socket: Socket;
  /** The client that it serves now. */
  client: Socket | undefined;
}

export async function startPooler(
  databaseUrl: string,
  mode: "session" | "transaction",
): Promise<Pooler> {
  const target = new URL(databaseUrl);
  const free: Session[] = [];
  const sockets = new Set<Socket>();

  async function open(startup: Buffer): Promise<Session> {
    const socket = connect(Number(target.port), target.hostname);
    sockets.add(socket.on("error", () => undefined));
    const session: Session = { socket, client: undefined };
    await once(socket, "connect");
    socket.write(startup);
    await new Promise<void>((isReady) => {
      const take = (one: Buffer): void => {
        session.client?.write(one);
        // Only `ReadyForQuery` outside a transaction.
        if (one[0] !== 0x5a || one[5] !== 0x49) return;
        isReady();
        if (mode === "session" || session.client === undefined) return;
        session.client = undefined;
        free.push(session);
      };
      socket.on("data", packets(take, true));
    });
    return session;
  }

  function serve(client: Socket): void {
    sockets.add(client.on("error", () => undefined));
    let startup: Buffer | undefined;
    let own: Session | undefined;
    let turn = Promise.resolve();
    const pass = async (one: Buffer): Promise<void> => {
      if (own?.client !== client) {
        own = free.pop() ?? (await open(startup!));
        own.client = client;
      }
      own.socket.write(one);
    };
    const take = (one: Buffer): void => {
      if (startup !== undefined) {
        // The client's Terminate message is for the pooler, not for the server.
        if (one[0] !== 0x58) turn = turn.then(() => pass(one));
        return;
      }
      startup = Buffer.from(one);
      const names = one
        .subarray(8)
        .toString()
        .split("\0")
        .filter((_, index) => index % 2 === 0);
      const other = names.find((name) => name !== "" && !known.test(name));
      if (other === undefined) client.write(welcome);
      else client.end(refusal(`unsupported startup parameter: ${other}`));
    };
    client.on("data", packets(take, false));
    client.on("close", () => own?.client === client && own.socket.destroy());
  }

  const server = createServer(serve);
  return {
    url: await listenBefore(server, target),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

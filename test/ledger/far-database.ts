/** A TCP proxy in front of a PostgreSQL server, which adds latency and may lose answers. */
import { connect, createServer, type Socket } from "node:net";
import { listenBefore } from "../support/tcp-proxy.ts";

export interface FarDatabase {
  /** The connection string of the database behind the proxy. */
  readonly url: string;
  readonly delayMs: number;
  /** Count of ledger statements that were forwarded; `lostAnswers` counts those whose answer was lost. */
  readonly ledgerStatements: number;
  readonly lostAnswers: number;
  close(): void;
}

export interface FarDatabaseOptions {
  /** The database itself. */
  readonly url: string;
  /** Delay in each direction, in milliseconds. */
  readonly delayMs: number;
  /** Loses the answer of every nth ledger statement; undefined: loses none. */
  readonly loseEvery?: number | undefined;
}

/** Occurs in each ledger statement: in its text when it is prepared, in its name when it is only bound. */
const ledgerStatement = Buffer.from("ledger_");

/** Starts the proxy on a free port. */
export async function startFarDatabase(options: FarDatabaseOptions): Promise<FarDatabase> {
  const { delayMs, loseEvery } = options;
  const target = new URL(options.url);
  const sockets = new Set<Socket>();
  let ledgerStatements = 0;
  let lostAnswers = 0;

  /** Decides the answer to these bytes: `kept`, or lost by cutting the connection at once (`cut`) or when it arrives (`answered`). */
  function fateOf(bytes: Buffer): "kept" | "cut" | "answered" {
    if (!bytes.includes(ledgerStatement)) return "kept";
    ledgerStatements += 1;
    if (loseEvery === undefined || ledgerStatements % loseEvery !== 0) return "kept";
    lostAnswers += 1;
    return lostAnswers % 2 === 0 ? "cut" : "answered";
  }

  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({
      host: target.hostname,
      port: Number(target.port || 5432),
      noDelay: true,
    });
    let isCut = false;
    let isLosing = false;
    const later = (work: () => void) => setTimeout(work, delayMs);
    const cut = () => {
      isCut = true;
      client.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("data", (bytes: Buffer) =>
      later(() => {
        if (isCut) return;
        const fate = fateOf(bytes);
        // The server gets the whole statement, but the client is gone.
        upstream.write(bytes, () => fate === "cut" && cut());
        if (fate === "answered") isLosing = true;
      }),
    );
    upstream.on("data", (bytes) => {
      if (isLosing) cut();
      // After a cut, close the server's side only when the statement is done.
      if (isCut) upstream.end();
      else later(() => isCut || client.write(bytes));
    });
    client.on("close", () => isCut || later(() => upstream.end()));
    upstream.on("close", () => later(() => client.destroy()));
  });
  const before = await listenBefore(server, target);
  return {
    url: before,
    delayMs,
    get ledgerStatements() {
      return ledgerStatements;
    },
    get lostAnswers() {
      return lostAnswers;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

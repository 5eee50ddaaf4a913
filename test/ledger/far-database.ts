/** A PostgreSQL server that is some milliseconds away, and whose answers may be lost: a TCP proxy in front of the real one. */
import { connect, createServer, type Socket } from "node:net";
import { listenBefore } from "../support/tcp-proxy.ts";

export interface FarDatabase {
  /** The connection string of the database behind the proxy. */
  readonly url: string;
  readonly delayMs: number;
  /** Statements of the ledger that were passed on, and of these the ones whose answer was lost. */
  readonly ledgerStatements: number;
  readonly lostAnswers: number;
  close(): void;
}

export interface FarDatabaseOptions {
  /** The database itself. */
  readonly url: string;
  /** How long bytes are on their way, in each direction. */
  readonly delayMs: number;
  /** Every how many statements of the ledger an answer is lost; none where it is absent. */
  readonly loseEvery?: number | undefined;
}

/** A connection's statement by its text when it is prepared, and by its name when it is only bound. */
const ledgerStatement = Buffer.from("ledger_");

/** Starts it on a free port. */
export async function startFarDatabase(options: FarDatabaseOptions): Promise<FarDatabase> {
  const { delayMs, loseEvery } = options;
  const target = new URL(options.url);
  const sockets = new Set<Socket>();
  let ledgerStatements = 0;
  let lostAnswers = 0;

  /** Whether the answer to these bytes is to be lost: alternately the connection is cut at once, or when the answer comes. */
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
        // The server gets the whole statement, and finds nobody to answer.
        upstream.write(bytes, () => fate === "cut" && cut());
        if (fate === "answered") isLosing = true;
      }),
    );
    upstream.on("data", (bytes) => {
      if (isLosing) cut();
      // The connection to the server ends only when the statement it was cut for is done.
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

/** Opens the database that the options name. docs/architecture.md; docs/database.md. */
import type { Log } from "../base/log.ts";
import { openEmbedded, type Address } from "../embedded/index.ts";
import { adviceOn, inTransactionMode } from "./advice.ts";
import { connect } from "./connect.ts";
import type { Database } from "./database.ts";
import { sharesSession } from "./pooler.ts";

/** Copies everything from one database into an empty one; throws if anything is wrong. */
type CarryOver = (from: Database, to: Database) => Promise<void>;

export interface OpenOptions {
  /** A PostgreSQL server (`DATABASE_URL`); it wins over `dataDir`. */
  readonly url?: string | undefined;
  /** The data directory of the embedded database. */
  readonly dataDir?: string | undefined;
  /** If another process holds `dataDir`, use its database instead of failing. For commands. */
  readonly join?: boolean | undefined;
  /** The most connections; 10 if absent. */
  readonly connectionsMax?: number | undefined;
  /** Copies the embedded database's data from an older PostgreSQL into a newer one; without it such data is refused. */
  readonly carryOver?: CarryOver | undefined;
  readonly log: Log;
}

/** For a command that joins a gateway's database: it needs few. */
const joinedConnectionsMax = 2;

/** The server of `DATABASE_URL` does not answer, or does not let the gateway in. The message never includes the password. */
class DatabaseUnreachableError extends Error {
  /** The problem, and how to fix it; the message has both. */
  readonly problem: string;
  readonly fix: string;

  constructor(url: string, cause: unknown) {
    const place = URL.canParse(url) ? new URL(url) : undefined;
    const name = place === undefined ? "" : ` ${place.host}${place.pathname}`;
    const { reason, fix } = adviceOn(cause);
    const problem = `the database${name} of DATABASE_URL cannot be used: ${reason}`;
    super(`${problem}; ${fix}`, { cause });
    this.problem = problem;
    this.fix = fix;
    this.name = "DatabaseUnreachableError";
  }
}

/** Runs the first statement on the server. @throws where the server cannot be reached, or sessions are shared */
async function needOwnSessions({ pool }: Database, url: string): Promise<void> {
  const client = await pool.connect();
  try {
    if (await sharesSession(client, url)) throw new Error(inTransactionMode);
  } finally {
    client.release();
  }
}

async function openServer(url: string, options: OpenOptions): Promise<Database> {
  const database = connect({ ...options, server: { connectionString: url } });
  try {
    await needOwnSessions(database, url);
    return database;
  } catch (error) {
    await database.close();
    throw new DatabaseUnreachableError(url, error);
  }
}

/** Returns a function that connects to two addresses and copies the data between them. */
const betweenServers =
  (carryOver: CarryOver, log: Log) =>
  async (from: Address, to: Address): Promise<void> => {
    const source = connect({ server: from, log });
    const target = connect({ server: to, log });
    try {
      await carryOver(source, target);
    } finally {
      await Promise.all([source.close(), target.close()]);
    }
  };

async function openOwn(dataDir: string, options: OpenOptions): Promise<Database> {
  const { join = false, carryOver, log } = options;
  const embedded = await openEmbedded({
    dataDir,
    join,
    carryOver: carryOver && betweenServers(carryOver, log),
    log,
  });
  return connect({
    server: embedded.address,
    connectionsMax: options.connectionsMax ?? (embedded.joined ? joinedConnectionsMax : undefined),
    log,
    closeRest: () => embedded.close(),
  });
}

/**
 * Opens the database: a PostgreSQL server when there is a `url`, else the embedded one in `dataDir`.
 * @throws DataDirectoryInUseError when another process holds `dataDir`; DataDirectoryUnusableError, NoEmbeddedDatabaseError,
 * DatabaseUnreachableError
 */
export function openDatabase(options: OpenOptions): Promise<Database> {
  if (options.url !== undefined && options.url !== "") return openServer(options.url, options);
  if (options.dataDir === undefined) throw new Error("openDatabase needs a url or a dataDir");
  return openOwn(options.dataDir, options);
}

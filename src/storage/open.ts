/** Opens whichever database the options name. docs/architecture.md; docs/operate.md. */
import type { Log } from "../base/log.ts";
import { openEmbedded, type Address } from "../embedded/index.ts";
import { connect } from "./connect.ts";
import type { Database } from "./database.ts";

/** Carries everything from one database into an empty one; throws where anything is not right. */
type CarryOver = (from: Database, to: Database) => Promise<void>;

export interface OpenOptions {
  /** A PostgreSQL server (`DATABASE_URL`); it wins over `dataDir`. */
  readonly url?: string | undefined;
  /** Where the embedded database lives. */
  readonly dataDir?: string | undefined;
  /** When another process holds `dataDir`: use its database instead of failing. For commands. */
  readonly join?: boolean | undefined;
  /** Connections at most; 10 when absent. */
  readonly connectionsMax?: number | undefined;
  /** Brings the embedded database's data of an older PostgreSQL into a newer one; without it such data is refused. */
  readonly carryOver?: CarryOver | undefined;
  readonly log: Log;
}

/** Of a command that joins a gateway: it needs few. */
const joinedConnectionsMax = 2;

/** The server that `DATABASE_URL` names does not answer, or does not let us in. Never tells the password. */
class DatabaseUnreachableError extends Error {
  constructor(url: string, cause: unknown) {
    const place = URL.canParse(url) ? new URL(url) : undefined;
    const name = place === undefined ? "" : ` ${place.host}${place.pathname}`;
    super(`the database${name} of DATABASE_URL cannot be used: ${reason(cause)}`, { cause });
    this.name = "DatabaseUnreachableError";
  }
}

/** A name with several addresses fails with one error for each, and no message of its own. */
function reason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reason(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

async function openServer(url: string, options: OpenOptions): Promise<Database> {
  const database = connect({ ...options, server: { connectionString: url } });
  try {
    await database.query("select 1");
    return database;
  } catch (error) {
    await database.close();
    throw new DatabaseUnreachableError(url, error);
  }
}

/** The same between two addresses. */
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

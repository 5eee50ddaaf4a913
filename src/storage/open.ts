/** Opens whichever database the options name. docs/architecture.md; docs/operate.md. */
import type { Log } from "../base/log.ts";
import { connect } from "./connect.ts";
import type { Database } from "./database.ts";
import { openEmbedded } from "./embedded/open.ts";
import type { CarryOver } from "./embedded/upgrade.ts";

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

/**
 * Opens the database: a PostgreSQL server when there is a `url`, else the embedded one in `dataDir`.
 * @throws DataDirectoryInUseError when another process holds `dataDir`; DataDirectoryUnusableError, NoEmbeddedDatabaseError,
 * DatabaseUnreachableError
 */
export function openDatabase(options: OpenOptions): Promise<Database> {
  if (options.url !== undefined && options.url !== "") return openServer(options.url, options);
  if (options.dataDir === undefined) throw new Error("openDatabase needs a url or a dataDir");
  return openEmbedded({
    dataDir: options.dataDir,
    join: options.join === true,
    connectionsMax: options.connectionsMax,
    carryOver: options.carryOver,
    log: options.log,
  });
}

/** Opens whichever database the options name. Design section 2; contract.md "Environment". */
import { createDatabase, type Database, type Log } from "./database.ts";
import { openEmbedded } from "./embedded.ts";
import { createListener } from "./listener.ts";
import { createPool } from "./pool.ts";
import { createSignals } from "./signals.ts";

const statementMsMax = 30_000;
const idleMsMax = 60_000;

export interface OpenOptions {
  /** A PostgreSQL server (`DATABASE_URL`); it wins over `dataDir`. */
  readonly url?: string | undefined;
  /** Where the embedded database lives. */
  readonly dataDir?: string | undefined;
  /** When another process holds `dataDir`: use its database instead of failing. For commands. */
  readonly join?: boolean | undefined;
  /** Connections to the server at most; 10 when absent. */
  readonly connectionsMax?: number | undefined;
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
  const { log } = options;
  const pool = createPool(
    {
      connectionString: url,
      statement_timeout: statementMsMax,
      idle_in_transaction_session_timeout: idleMsMax,
      ...(options.connectionsMax === undefined ? {} : { max: options.connectionsMax }),
    },
    log,
  );
  try {
    await pool.query("select 1");
  } catch (error) {
    await pool.end();
    throw new DatabaseUnreachableError(url, error);
  }
  return createDatabase({
    kind: "server",
    prepares: true,
    pool,
    signals: (database) => createSignals(database, createListener(url, log), log),
    closeRest: () => Promise.resolve(),
  });
}

/**
 * Opens the database: a PostgreSQL server when there is a `url`, else the embedded one in `dataDir`.
 * @throws DataDirectoryInUseError when another process holds `dataDir`; DataDirectoryUnusableError, DatabaseUnreachableError
 */
export function openDatabase(options: OpenOptions): Promise<Database> {
  if (options.url !== undefined && options.url !== "") return openServer(options.url, options);
  if (options.dataDir === undefined) throw new Error("openDatabase needs a url or a dataDir");
  return openEmbedded({
    dataDir: options.dataDir,
    join: options.join === true,
    log: options.log,
  });
}

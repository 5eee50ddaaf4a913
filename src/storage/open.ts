/** Opens whichever database the options name. docs/architecture.md; docs/operate.md. */
import type { Log } from "../base/log.ts";
import { openEmbedded, type Address } from "../embedded/index.ts";
import { connect } from "./connect.ts";
import type { Database } from "./database.ts";
import { sharesSession } from "./pooler.ts";

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
  /** What is wrong, and what to do; the message has both. */
  readonly problem: string;
  readonly fix: string;

  constructor(url: string, cause: unknown) {
    const place = URL.canParse(url) ? new URL(url) : undefined;
    const name = place === undefined ? "" : ` ${place.host}${place.pathname}`;
    const first = firstOf(cause);
    const problem = `the database${name} of DATABASE_URL cannot be used: ${reasonOf(first)}`;
    const fix = fixOf(first);
    super(`${problem}; ${fix}`, { cause });
    this.problem = problem;
    this.fix = fix;
    this.name = "DatabaseUnreachableError";
  }
}

/** A name with several addresses fails with one error for each, and no message of its own. */
const firstOf = (error: unknown): unknown =>
  error instanceof AggregateError && error.errors.length > 0 ? firstOf(error.errors[0]) : error;

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const authority =
  "name the file of its authority in DATABASE_URL, as ?sslmode=verify-full&sslrootcert=/path/to/ca.pem";
const reach = "check host and port, and that the server runs";
/** What helps, by the code of the system or of PostgreSQL. */
const fixes: Readonly<Record<string, string>> = {
  ECONNREFUSED: reach,
  ETIMEDOUT: `${reach}; a firewall may be between`,
  EHOSTUNREACH: `${reach}; a firewall may be between`,
  ENOTFOUND: "check the host's name",
  EAI_AGAIN: "check the host's name, and this machine's resolver",
  DEPTH_ZERO_SELF_SIGNED_CERT: authority,
  SELF_SIGNED_CERT_IN_CHAIN: authority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: authority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: authority,
  ERR_TLS_CERT_ALTNAME_INVALID: "use the host's name as its certificate has it",
  "28P01": "check user and password; special characters in them are written as %40 and so on",
  "28000": "let this user in by the server's pg_hba.conf, or add ?sslmode=verify-full",
  "3D000": "make the database first, by CREATE DATABASE",
  "53300": "raise the server's max_connections",
};

const inTransactionMode = "a pooler in transaction mode is between";
/** Errors that have no code: the driver's, and our own. */
const said: readonly (readonly [words: string, fix: string])[] = [
  [
    "client password must be a string",
    "give the password in DATABASE_URL, as postgres://user:password@host/database",
  ],
  [
    inTransactionMode,
    "name the server itself, or a pooler in session mode: prepared statements, LISTEN and locks need a session of their own",
  ],
  ["does not support SSL", "leave sslmode out of DATABASE_URL, or switch ssl on at the server"],
];

function fixOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return (
    said.find(([words]) => reasonOf(error).includes(words))?.[1] ??
    fixes[code] ??
    "check DATABASE_URL, and that the server lets this user in"
  );
}

/** The first statement of all. @throws where the server cannot be reached, or sessions are shared */
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

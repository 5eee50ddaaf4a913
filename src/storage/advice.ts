/** Reasons and fixes when the database cannot be reached, or refuses the login. docs/database.md "PostgreSQL". */
import { reasonOf } from "../base/errors.ts";

/** Returns the first error: a name with several addresses fails with one error each, and no message of its own. */
const firstOf = (error: unknown): unknown =>
  error instanceof AggregateError && error.errors.length > 0 ? firstOf(error.errors[0]) : error;

const authority =
  "name the file of its authority in DATABASE_URL, as ?sslmode=verify-full&sslrootcert=/path/to/ca.pem";
const reach = "check host and port, and that the server runs";
const filtered = `${reach}; a firewall may be between`;
const pooled =
  "a pooler needs a session for each connection, 11 for each process (default_pool_size)";
const behindPooler = "see the server behind the pooler, and the pooler's log";
const slow = "see what the server waits for: its load, its disk, locks, the network";
const elsewhere =
  "see whether DATABASE_URL leads to the gateway's database, and whether the search_path of the user or database was changed";
const sessions =
  "name the server itself, or a pooler in session mode: prepared statements, LISTEN and locks need a session of their own";
const restarting = "wait: the server stops or starts; its own log says why";
/** Fixes, by the error code of the system or of PostgreSQL. */
const fixes: Readonly<Record<string, string>> = {
  ECONNREFUSED: reach,
  ECONNRESET: reach,
  ECONNABORTED: reach,
  EPIPE: reach,
  EHOSTDOWN: reach,
  ETIMEDOUT: filtered,
  EHOSTUNREACH: filtered,
  ENETUNREACH: filtered,
  ENETDOWN: filtered,
  ENOTFOUND: "check the host's name",
  EAI_AGAIN: "check the host's name, and this machine's resolver",
  DEPTH_ZERO_SELF_SIGNED_CERT: authority,
  SELF_SIGNED_CERT_IN_CHAIN: authority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: authority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: authority,
  CERT_HAS_EXPIRED: "renew the server's certificate",
  CERT_NOT_YET_VALID: "check this machine's clock, and the server's certificate",
  ERR_TLS_CERT_ALTNAME_INVALID: "use the host's name as its certificate has it",
  "26000": sessions,
  "42P05": sessions,
  "28P01": "check user and password; special characters in them are written as %40 and so on",
  "28000":
    "see that the user exists and may log in, and that the server's pg_hba.conf lets it in; or add ?sslmode=verify-full",
  "3D000": "make the database first, by CREATE DATABASE",
  "42501":
    "make the user of DATABASE_URL the owner of the tables again, or give it its rights back (GRANT)",
  "42P01": elsewhere,
  "42883": elsewhere,
  "3F000": elsewhere,
  "53100": "free its disk: it is full",
  "53300": "raise the server's max_connections, or the CONNECTION LIMIT of user and database",
  "40P01": slow,
  "55P03": slow,
  "57014": slow,
  "57P01": restarting,
  "57P02": restarting,
  "57P03": restarting,
};

export const inTransactionMode = "a pooler in transaction mode is between";
/** Fixes for errors without a code, from the driver or the gateway, by words of their message. */
const said: readonly (readonly [words: string, fix: string])[] = [
  [", open '", "look at the files that DATABASE_URL names: sslrootcert, sslcert and sslkey"],
  [
    "client password must be a string",
    "give the password in DATABASE_URL, as postgres://user:password@host/database",
  ],
  [inTransactionMode, sessions],
  ["server_login_retry", behindPooler],
  ["server conn crashed", behindPooler],
  ["max clients reached", pooled],
  ["from the pool", `${behindPooler}; ${pooled}`],
  ["compute node", "see whether the server behind the proxy runs"],
  ["Connection terminated", reach],
  ["not queryable", reach],
  ["timeout exceeded when trying to connect", `${filtered}; ${pooled}`],
  ["no answer within", slow],
  ["Query read timeout", `${slow}; ${pooled}`],
  ["does not support SSL", "leave sslmode out of DATABASE_URL, or switch ssl on at the server"],
];

/** Returns the meaning of a database error, and its fix. */
export function adviceOn(error: unknown): { readonly reason: string; readonly fix: string } {
  const first = firstOf(error);
  return { reason: reasonOf(first), fix: fixOf(first) };
}

function fixOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return (
    said.find(([words]) => reasonOf(error).includes(words))?.[1] ??
    fixes[code] ??
    "check DATABASE_URL, and that the server lets this user in"
  );
}

/**
 * The settings of each connection: limits for statements and idle transactions, and values that the gateway needs whatever the database's
 * defaults are. A statement sets them after the connection is made: poolers (PgBouncer) refuse connection parameters that they do not know,
 * or drop them.
 */
import type { ClientBase, QueryConfig } from "pg";

const statementMsMax = 30_000;
/** A process that is stopped within a transaction blocks others no longer than this. */
const idleMsMax = 3_000;
/** The settings statement delays everyone who waits for the connection, so it has a limit of its own. */
const answerMsMax = 10_000;

const everywhere = {
  // With JIT, the fold of usage took a server with LLVM 17 seconds of processor time to compile, for milliseconds of work.
  jit: "off",
  // The driver reads timestamps in this style only.
  datestyle: "iso",
  // In patterns of our statements a backslash is a plain character, not an escape.
  standard_conforming_strings: "on",
  // The driver writes null in an array as NULL; with this setting off, PostgreSQL reads that as text.
  array_nulls: "on",
  // For statements outside of transactions. At a stricter level, concurrent statements fail.
  default_transaction_isolation: "'read committed'",
} as const;

/** Limits that older servers lack. The first would cut idle connections, the second restores and exports. */
const newerLimits = ["idle_session_timeout", "transaction_timeout"] as const;

const withoutLimit = newerLimits.map(
  (name) =>
    `select set_config('${name}', '0', false) where current_setting('${name}', true) is not null`,
);

/** Returns a function that sets these settings, and those that every connection needs, on a new connection. */
export const setting =
  (settings: Readonly<Record<string, string | number>>) =>
  async (client: ClientBase): Promise<void> => {
    const statements = Object.entries({ ...everywhere, ...settings }).map(
      ([name, value]) => `set ${name} = ${value}`,
    );
    // The driver takes a time limit per statement; its type declaration lacks it.
    const limited: QueryConfig & { readonly query_timeout: number } = {
      text: [...statements, ...withoutLimit].join("; "),
      query_timeout: answerMsMax,
    };
    await client.query(limited);
  };

/** Sets the limits of a gateway's own connections. */
export const setLimits = setting({
  statement_timeout: statementMsMax,
  idle_in_transaction_session_timeout: idleMsMax,
});

/**
 * The limits of each connection: how long a statement may take, and how long a transaction may stand still. They are set by a
 * statement and not as it connects, because poolers (PgBouncer) refuse parameters that they do not know, or drop them.
 */
import type { ClientBase, QueryConfig } from "pg";

const statementMsMax = 30_000;
/** A process that is stopped within a transaction keeps nobody waiting for longer. */
const idleMsMax = 3_000;
/** Whoever waits for the connection waits for this too. */
const answerMsMax = 10_000;

const text = `set statement_timeout = ${statementMsMax}; set idle_in_transaction_session_timeout = ${idleMsMax}`;

/** Sets them on a connection that is new. */
export async function setLimits(client: ClientBase): Promise<void> {
  // The driver knows a statement's own time, its declaration does not.
  const limited: QueryConfig & { readonly query_timeout: number } = {
    text,
    query_timeout: answerMsMax,
  };
  await client.query(limited);
}

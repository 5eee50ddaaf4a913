/**
 * The settings of each connection: how long a statement may take, how long a transaction may stand still, and what ours need whatever the
 * database says. They are set by a statement and not as it connects, because poolers (PgBouncer) refuse parameters that they do not know,
 * or drop them.
 */
import type { ClientBase, QueryConfig } from "pg";

const statementMsMax = 30_000;
/** A process that is stopped within a transaction keeps nobody waiting for longer. */
const idleMsMax = 3_000;
/** Whoever waits for the connection waits for this too. */
const answerMsMax = 10_000;

const everywhere = {
  // Compiling the step of usage took a server with LLVM 17 seconds of its processor each time, and running it takes milliseconds.
  jit: "off",
  // The driver reads moments in this style alone.
  datestyle: "iso",
} as const;

/** Sets something on a connection that is new, beside what each needs. */
export const setting =
  (settings: Readonly<Record<string, string | number>>) =>
  async (client: ClientBase): Promise<void> => {
    const text = Object.entries({ ...everywhere, ...settings }).map(
      ([name, value]) => `set ${name} = ${value}`,
    );
    // The driver knows a statement's own time, its declaration does not.
    const limited: QueryConfig & { readonly query_timeout: number } = {
      text: text.join("; "),
      query_timeout: answerMsMax,
    };
    await client.query(limited);
  };

/** Sets the limits of a gateway's own connections. */
export const setLimits = setting({
  statement_timeout: statementMsMax,
  idle_in_transaction_session_timeout: idleMsMax,
});

/** How a restore that failed ended: the answer of its commit may have been lost. */
import { retry } from "../base/retry.ts";
import { isTransient, prepareMigrations, type Database, type Queryable } from "../storage/index.ts";

/** `unchanged`: the database is as it was. `restored`: it has the backup. `unknown`: it does not answer. */
export type RestoreOutcome = "unchanged" | "restored" | "unknown";

const answerMsMax = 30_000;

/** The number of a transaction that writes, by which {@link outcomeOf} finds it. */
export async function transactionId(tx: Queryable): Promise<string> {
  const [row] = await tx.query<{ id: string }>("select pg_current_xact_id()::text as id");
  return row!.id;
}

/** Asks the database, for half a minute while it is away, whether the transaction `xid` was committed. Never rejects. */
export async function outcomeOf(database: Database, xid: string): Promise<RestoreOutcome> {
  const ask = () =>
    database.transaction(async (tx) => {
      // Waits for a commit that is still in flight.
      await prepareMigrations(tx);
      const [row] = await tx.query<{ status: string }>(
        "select pg_xact_status($1::xid8) as status",
        [xid],
      );
      return row!.status === "committed" ? "restored" : "unchanged";
    });
  return retry({ forMs: answerMsMax, mayPass: isTransient }, ask).catch(() => "unknown" as const);
}

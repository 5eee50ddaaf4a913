/** Checks whether the database can be used now, and if not, why. docs/database.md. */
import type { Queryable } from "./queryable.ts";

const answerMsMax = 2_000;

/** Returns a row if the server can be written: a standby has no transaction ids, and a read-only server says so. */
const probe =
  "select pg_current_xact_id()::text where not current_setting('transaction_read_only')::boolean";

export type DatabaseState =
  | { readonly is: "ok" | "read_only" }
  | { readonly is: "down"; readonly error: unknown };

/** Asks the database for its state. Never rejects, and takes two seconds at most. */
export async function databaseState(database: Queryable): Promise<DatabaseState> {
  const late = new Promise<DatabaseState>((resolve) => {
    const error = new Error(`no answer within ${answerMsMax / 1_000} s`);
    setTimeout(resolve, answerMsMax, { is: "down", error }).unref();
  });
  const answered = database.query(probe).then(
    ({ length }): DatabaseState => ({ is: length === 1 ? "ok" : "read_only" }),
    (error: unknown): DatabaseState => ({ is: "down", error }),
  );
  return Promise.race([answered, late]);
}

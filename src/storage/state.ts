/** Checks whether the database can be used now, and if not, why. docs/database.md. */
import type { Queryable } from "./queryable.ts";

const answerMsMax = 2_000;

/**
 * Returns a row if the server can be written: a standby has no transaction ids, and a read-only server says so. Fails if our tables are
 * missing. The names of two tables stand for all: they need no lock.
 */
const probe = `
  select pg_current_xact_id()::text,
    has_table_privilege('api_keys', 'select') and has_table_privilege('ledger_lanes', 'update') as has_rights
  where not current_setting('transaction_read_only')::boolean`;

const noRights = Object.assign(
  new Error("the user of DATABASE_URL has no rights on Tollgate's tables"),
  { code: "42501" },
);

export type DatabaseState =
  | { readonly is: "ok" | "read_only" }
  | { readonly is: "down"; readonly error: unknown };

/** Asks the database for its state. Never rejects, and takes two seconds at most. */
export async function databaseState(database: Queryable): Promise<DatabaseState> {
  const late = new Promise<DatabaseState>((resolve) => {
    const error = new Error(`no answer within ${answerMsMax / 1_000} s`);
    setTimeout(resolve, answerMsMax, { is: "down", error }).unref();
  });
  const answered = database.query<{ has_rights: boolean }>(probe).then(
    ([row]): DatabaseState => {
      if (row === undefined) return { is: "read_only" };
      return row.has_rights ? { is: "ok" } : { is: "down", error: noRights };
    },
    (error: unknown): DatabaseState => ({ is: "down", error }),
  );
  return Promise.race([answered, late]);
}

/** What tests of read replicas share: what a log says, and a server that is really behind or not. */
import type { Log } from "../../src/base/log.ts";
import type { Queryable } from "../../src/storage/index.ts";
import type { Pair, Server } from "../faults/whole/pair.ts";

/** A log that is kept. */
export function keptLog() {
  const lines: { readonly level: string; readonly message: string; readonly reason: unknown }[] =
    [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, reason: (fields as { reason?: unknown }).reason });
  const log: Log = {
    debug: () => undefined,
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
  return { log, lines };
}

/** The standby gets the log and does not replay it: it falls behind. */
export const holdReplay = (standby: Server) => standby.query("select pg_wal_replay_pause()");
export const goOn = (standby: Server) => standby.query("select pg_wal_replay_resume()");

/** Which database answers. */
export const place = async (database: Queryable): Promise<string> => {
  const [row] = await database.query<{ there: boolean }>("select pg_is_in_recovery() as there");
  return row!.there ? "replica" : "primary";
};

/** Waits at the replica alone, so that a test can hurt it meanwhile. */
export const waitThere = async (database: Queryable): Promise<string> => {
  await database.query("select case when pg_is_in_recovery() then pg_sleep(60) end");
  return place(database);
};

/** The standby has all that the primary has now. */
export async function hasAll({ primary: from, standby }: Pair): Promise<boolean> {
  const [row] = await from.query("select pg_current_wal_lsn() as lsn");
  const there = `select 1 where pg_last_wal_replay_lsn() >= '${row!["lsn"]}'`;
  return (await standby.query(there)).length > 0;
}

/** Shared by the tests of read replicas: a log, and helpers that make a real standby lag or catch up. */
import type { Log } from "../../src/base/log.ts";
import type { Queryable } from "../../src/storage/index.ts";
import type { Link } from "../faults/whole/link.ts";
import type { Pair, Server } from "../faults/whole/pair.ts";
import { eventually } from "../support/patience.ts";

/** A log that keeps its lines. */
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

/** Makes the standby lag: it receives the WAL but does not replay it. */
export const pauseReplay = (standby: Server) => standby.query("select pg_wal_replay_pause()");
export const resumeReplay = (standby: Server) => standby.query("select pg_wal_replay_resume()");

/** Which database answers: "replica" or "primary". */
export const role = async (database: Queryable): Promise<string> => {
  const [row] = await database.query<{ there: boolean }>("select pg_is_in_recovery() as there");
  return row!.there ? "replica" : "primary";
};

/** Waits only at the replica, so that a test can disturb it meanwhile. */
export const waitOnReplica = async (database: Queryable): Promise<string> => {
  await database.query("select case when pg_is_in_recovery() then pg_sleep(60) end");
  return role(database);
};

/** True if the standby has replayed everything that the primary has now. */
export async function isCurrent({ primary: from, standby }: Pair): Promise<boolean> {
  const [row] = await from.query("select pg_current_wal_lsn() as lsn");
  const there = `select 1 where pg_last_wal_replay_lsn() >= '${row!["lsn"]}'`;
  return (await standby.query(there)).length > 0;
}

/** Stops replication. The standby has every commit until now, and gets none from now on. */
export async function cutReplication(pair: Pair): Promise<void> {
  await eventually(() => isCurrent(pair), "the standby to have all");
  await pair.standby.query("alter system set primary_conninfo = ''");
  await pair.standby.query("select pg_reload_conf()");
  await eventually(
    async () => (await pair.primary.query("select 1 from pg_stat_replication")).length === 0,
    "the end of replication",
  );
}

/** Kills the primary, promotes the standby, and moves the address to it. */
export async function failOver({ primary, standby }: Pair, link: Link): Promise<void> {
  await primary.kill();
  await standby.query("select pg_promote()");
  link.leadTo(standby.port);
  link.reset();
}

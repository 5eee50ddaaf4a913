/** What tests of read replicas share: what a log says, and a server that is really behind or not. */
import type { Log } from "../../src/base/log.ts";
import type { Server } from "../faults/whole/pair.ts";

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

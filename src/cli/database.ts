/** Opens the database of an environment: `DATABASE_URL`, else the embedded one of the data directory; and its replica. */
import { carryOver } from "../backup/index.ts";
import type { Log } from "../base/log.ts";
import { openDatabase, openReplica, type Database, type Replica } from "../storage/index.ts";
import { gatewayOnServerPid } from "./address.ts";
import type { Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

/** Opens the database. Commands and workers (`join`) share a running gateway's. @throws as `openDatabase` does, and UsageError */
export async function openDatabaseOf(
  environment: Environment,
  options: {
    readonly join?: boolean;
    readonly connectionsMax?: number | undefined;
    readonly log: Log;
  },
): Promise<Database> {
  if (options.join === true) requireDatabaseUrl(environment);
  const { databaseUrl: url, dataDir } = environment;
  return openDatabase({ url, dataDir, carryOver, ...options });
}

/** The problem and fix for a command without DATABASE_URL while the running gateway uses a database server. */
export const missingDatabaseUrl = (pid: number, dataDir: string) => ({
  problem: `the gateway that runs on ${dataDir} (process ${pid}) uses a server, and DATABASE_URL is not set here`,
  fix: "give this command the gateway's DATABASE_URL",
});

/** @throws UsageError if the command would create an embedded database, or use an old one, instead of the gateway's server */
export function requireDatabaseUrl(environment: Environment): void {
  const pid = gatewayOnServerPid(environment);
  if (pid === undefined) return;
  const { problem, fix } = missingDatabaseUrl(pid, environment.dataDir);
  throw new UsageError(`${problem}; ${fix}`);
}

/** Opens the replica for heavy reads; undefined if none is configured. */
export const openReplicaOf = (
  { databaseReadUrl: url, readLagMs: lagMsMax }: Environment,
  { database, log }: { readonly database: Database; readonly log: Log },
): Replica | undefined =>
  url === undefined ? undefined : openReplica({ url, primary: database, lagMsMax, log });

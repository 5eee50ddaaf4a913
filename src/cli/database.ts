/** The database of an environment: `DATABASE_URL`, else the embedded one of the data directory; and its replica. */
import { carryOver } from "../backup/index.ts";
import type { Log } from "../base/log.ts";
import { openDatabase, openReplica, type Database, type Replica } from "../storage/index.ts";
import type { Environment } from "./environment.ts";

/** Opens it; commands and workers (`join`) share the one of a gateway that runs. @throws as `openDatabase` does */
export function openDatabaseOf(
  { databaseUrl: url, dataDir }: Environment,
  options: {
    readonly join?: boolean;
    readonly connectionsMax?: number | undefined;
    readonly log: Log;
  },
): Promise<Database> {
  return openDatabase({ url, dataDir, carryOver, ...options });
}

/** The replica that heavy reads are asked of; undefined where none is named. */
export const openReplicaOf = (
  { databaseReadUrl: url, readLagMs: lagMsMax }: Environment,
  { database, log }: { readonly database: Database; readonly log: Log },
): Replica | undefined =>
  url === undefined ? undefined : openReplica({ url, primary: database, lagMsMax, log });

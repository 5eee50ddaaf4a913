/**
 * How commands reach the database: `DATABASE_URL`, else the data directory, joining the gateway that runs on it
 * or opening it themselves when none does. docs/cli.md.
 */
import { createLog } from "../base/log.ts";
import { hasEmbeddedDatabase } from "../embedded/index.ts";
import { migrate, type Database } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import { openDatabaseOf, refuseForgotten } from "./database.ts";
import { readEnvironment, UsageError, type Environment } from "./environment.ts";

/** What a command works with. */
export interface Opened {
  readonly database: Database;
  /** Asked for by the commands that handle keys only: making a master key for the others would be a surprise. */
  secrets(): Promise<Secrets>;
}

/** Whether no gateway has ever run here. */
export const isUnused = ({ databaseUrl, dataDir }: Environment): boolean =>
  databaseUrl === undefined && !hasEmbeddedDatabase(dataDir);

/** @throws UsageError where no gateway has ever run: an empty database would be made, and answer for the right one */
export function refuseUnused(environment: Environment): void {
  refuseForgotten(environment);
  if (!isUnused(environment)) return;
  const { dataDir } = environment;
  throw new UsageError(
    `no gateway has run on the data directory ${dataDir}: start it once (npx tollgate), or name where its data is by TOLLGATE_DATA_DIR or DATABASE_URL`,
  );
}

/**
 * Runs a command's work on the opened, migrated database, and closes it whatever happens.
 * @throws UsageError as `refuseUnused`
 */
export async function withDatabase<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
  const environment = readEnvironment(process.env);
  refuseUnused(environment);
  const log = createLog("warn");
  const database = await openDatabaseOf(environment, { join: true, log });
  try {
    await migrate(database, log);
    return await work({
      database,
      async secrets() {
        const { openSecrets } = await import("../tenancy/index.ts");
        return openSecrets({ ...environment, database });
      },
    });
  } finally {
    await database.close();
  }
}

/**
 * Opens the database for commands: `DATABASE_URL`, else the data directory. Commands join the gateway that runs there, or open the
 * directory themselves if none runs. docs/cli.md.
 */
import { closedDirectory, isClosed } from "../base/data-directory.ts";
import { createLog } from "../base/log.ts";
import { hasEmbeddedDatabase } from "../embedded/index.ts";
import { hasTables, migrate, type Database } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import { openDatabaseOf, requireDatabaseUrl } from "./database.ts";
import { readEnvironment, type Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

/** The opened resources of a command. */
export interface Opened {
  readonly database: Database;
  /** Called only by commands that handle keys, because it creates a master key if there is none. */
  secrets(): Promise<Secrets>;
}

/** True if no gateway has ever run here. */
export const isUnused = ({ databaseUrl, dataDir }: Environment): boolean =>
  databaseUrl === undefined && !hasEmbeddedDatabase(dataDir);

/**
 * @throws UsageError if no gateway has ever run here: the command would create an empty database and show it as the real one. Also if
 * this user may not see whether one has.
 */
export function refuseUnused(environment: Environment): void {
  requireDatabaseUrl(environment);
  if (!isUnused(environment)) return;
  const { dataDir } = environment;
  if (isClosed(dataDir)) {
    const { problem, fix } = closedDirectory(dataDir);
    throw new UsageError(`${problem}: ${fix}`);
  }
  throw new UsageError(unusedText(environment));
}

const unusedText = ({ databaseUrl, dataDir }: Environment): string =>
  databaseUrl === undefined
    ? `no gateway has run on the data directory ${dataDir}: start it once (npx tollgate), or name where its data is by TOLLGATE_DATA_DIR or DATABASE_URL`
    : "no gateway has run on the database of DATABASE_URL: start it once (npx tollgate), run tollgate migrate, or correct DATABASE_URL";

/** @throws UsageError where the database is empty: a command would create our tables, perhaps in another program's, and show none as all */
export async function refuseEmpty(environment: Environment, database: Database): Promise<void> {
  if (!(await hasTables(database))) throw new UsageError(unusedText(environment));
}

/**
 * Runs a command's work on the opened, migrated database, and always closes it. If no gateway has ever run here, runs `orUnused`.
 * @throws UsageError as `refuseUnused` and `refuseEmpty`, without `orUnused`
 */
export async function withDatabase<T>(
  work: (opened: Opened) => Promise<T>,
  orUnused?: () => Promise<T>,
): Promise<T> {
  const environment = readEnvironment(process.env);
  if (orUnused && isUnused(environment)) return orUnused();
  refuseUnused(environment);
  const log = createLog("warn");
  const database = await openDatabaseOf(environment, { join: true, log });
  try {
    if (orUnused && !(await hasTables(database))) return await orUnused();
    await refuseEmpty(environment, database);
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

/**
 * How commands reach the database: `DATABASE_URL`, else the data directory, joining the gateway that runs on it
 * or opening it themselves when none does. contract.md "Command line".
 */
import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createLedger, type Ledger } from "../ledger/index.ts";
import { migrate, openDatabase, type Database } from "../storage/index.ts";
import { openSecrets, type Secrets } from "../tenancy/index.ts";
import { readEnvironment } from "./environment.ts";

/** What a command works with. */
export interface Opened {
  readonly database: Database;
  readonly ledger: Ledger;
  /** Asked for by the commands that handle keys only: making a master key for the others would be a surprise. */
  secrets(): Promise<Secrets>;
}

/** Runs a command's work on the opened, migrated database, and closes it whatever happens. */
export async function withDatabase<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
  const environment = readEnvironment(process.env);
  const database = await openDatabase({
    url: environment.databaseUrl,
    dataDir: environment.dataDir,
    join: true,
    log: createLog("warn"),
  });
  const ledger = createLedger(database, systemClock);
  try {
    await migrate(database);
    return await work({
      database,
      ledger,
      secrets: () =>
        openSecrets({ database, masterKey: environment.masterKey, dataDir: environment.dataDir }),
    });
  } finally {
    await ledger.close();
    await database.close();
  }
}

/**
 * How commands reach the database: `DATABASE_URL`, else the data directory, joining the gateway that runs on it
 * or opening it themselves when none does. contract.md "Command line".
 */
import { systemClock } from "../base/clock.ts";
import { createLog } from "../base/log.ts";
import { createLedger, type Ledger } from "../ledger/index.ts";
import { migrate, openDatabase, type Database } from "../storage/index.ts";
import { openSecrets, type Secrets } from "../tenancy/index.ts";
import { readEnvironment, UsageError } from "./environment.ts";

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

/** The workspace a command means: the one named, or the only one there is. @throws UsageError */
export async function chooseWorkspace(
  database: Database,
  named: string | undefined,
): Promise<string> {
  const rows = await database.query<{ id: string; name: string }>(
    "select id, name from workspaces order by id",
  );
  if (named !== undefined) {
    const found = rows.find((row) => row.id === named || row.name === named);
    if (!found) throw new UsageError(`there is no workspace "${named}"`);
    return found.id;
  }
  if (rows.length === 1) return rows[0]!.id;
  if (rows.length === 0)
    throw new UsageError("there is no workspace yet; start the gateway once (npm start)");
  throw new UsageError(
    `--workspace is needed; there are: ${rows.map((row) => `${row.id} (${row.name})`).join(", ")}`,
  );
}

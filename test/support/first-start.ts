/**
 * Databases on which a gateway has already started for the first time. The first start runs once per process, with the gateway's
 * own steps, and is copied. Hashing its administrator's password alone takes a third of what a gateway costs a test.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { firstStart, type FirstStart } from "../../src/cli/first-start.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { openSecrets } from "../../src/tenancy/index.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "./postgres.ts";

interface Made {
  readonly url: string;
  readonly first: FirstStart;
  /** The file that a start without a given master key writes. */
  readonly masterKey: Buffer | undefined;
}

async function make(variables: Readonly<Record<string, string>>): Promise<Made> {
  const dataDir = temporaryDirectory();
  const environment = readEnvironment({ ...variables, TOLLGATE_DATA_DIR: dataDir });
  const url = await (await sharedPostgres()).createMigrated();
  const database = await openDatabase({ url, log: silentLog });
  const secrets = await openSecrets({ ...environment, database });
  const creditNano = environment.initialCreditNano;
  const first = await firstStart({ database, secrets, clock: systemClock, creditNano });
  await database.close();
  const isGiven = environment.masterKey !== undefined;
  const masterKey = isGiven ? undefined : readFileSync(join(dataDir, "master-key"));
  return { url, first: first!, masterKey };
}

const made = new Map<string, Promise<Made>>();

/** The variables that a first start depends on. */
const heeded = ["TOLLGATE_MASTER_KEY", "TOLLGATE_INITIAL_CREDIT"];

/**
 * Returns a new database as a first start with these variables leaves it, and the results of that start. Writes its master key
 * into `dataDir`.
 */
export async function startedDatabase(
  variables: Readonly<Record<string, string>>,
  dataDir: string,
): Promise<{ url: string; first: FirstStart }> {
  const own = Object.fromEntries(
    Object.entries(variables).filter(([name]) => heeded.includes(name)),
  );
  const name = JSON.stringify(own);
  const known = made.get(name) ?? make(own);
  made.set(name, known);
  const { url, first, masterKey } = await known;
  if (masterKey !== undefined) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dataDir, "master-key"), masterKey, { mode: 0o600 });
  }
  return { url: await (await sharedPostgres()).createCopy(url), first };
}

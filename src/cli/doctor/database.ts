/** Checks of the database: reached, of this version's schema, its clock, and whether the master key is its own. */
import { createLog } from "../../base/log.ts";
import { schemaState, type Database } from "../../storage/index.ts";
import { openSecrets } from "../../tenancy/index.ts";
import { openDatabaseOf } from "../database.ts";
import type { Environment } from "../environment.ts";
import { isUnused } from "../open.ts";
import { failed, ok, warning, type Finding } from "./findings.ts";
import { checkMasterKey } from "./machine.ts";

const skewWarnedMs = 1_000;
const skewFailedMs = 30_000;

/** All that the database tells. */
export async function checkDatabase(environment: Environment): Promise<Finding[]> {
  if (isUnused(environment))
    return [
      ok("database", "none yet: the first start makes it"),
      checkMasterKey(environment, false),
    ];
  let database: Database;
  try {
    database = await openDatabaseOf(environment, { join: true, log: createLog("silent") });
  } catch (error) {
    const fix = "check DATABASE_URL, and that the server runs and lets this user in";
    return [failed("database", (error as Error).message, fix), checkMasterKey(environment, true)];
  }
  try {
    const clock = await checkClock(database);
    const schema = await checkSchema(database);
    const key = checkMasterKey(environment, true);
    const isReady = schema.status === "ok" && key.status === "ok";
    return [clock, schema, isReady ? await checkOwnKey(database, environment, key) : key];
  } finally {
    await database.close();
  }
}

async function checkClock(database: Database): Promise<Finding> {
  const before = Date.now();
  const [row] = await database.query<{ now: string; version: string }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::text as now, current_setting('server_version') as version",
  );
  const after = Date.now();
  const skewMs = Math.round(Number(row!.now) - (before + after) / 2);
  const message = `PostgreSQL ${row!.version} answers; its clock is ${skewMs} ms ahead of this machine's`;
  const fix = "set both machines' clocks by NTP: expiries and limits go by them";
  // What the answer took may be all on one side.
  const sure = Math.abs(skewMs) - (after - before) / 2;
  if (sure > skewFailedMs) return failed("database", message, fix);
  return sure > skewWarnedMs ? warning("database", message, fix) : ok("database", message);
}

async function checkSchema(database: Database): Promise<Finding> {
  try {
    const { last, missing } = await schemaState(database);
    if (missing.length === 0) return ok("schema", `up to date (${last})`);
    const fix = "start the gateway, or run tollgate migrate";
    return warning("schema", `${missing.length} migrations are missing`, fix);
  } catch (error) {
    return failed("schema", (error as Error).message, "run the version that changed it");
  }
}

async function checkOwnKey(
  database: Database,
  { masterKey, dataDir }: Environment,
  found: Finding,
): Promise<Finding> {
  try {
    await openSecrets({ database, masterKey, dataDir });
    return found;
  } catch (error) {
    return failed("master key", (error as Error).message, "give the key of this database");
  }
}

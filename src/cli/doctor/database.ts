/** Checks the database: connection, schema version, clock, and whether the master key belongs to it. */
import { counted } from "../../base/counted.ts";
import { closedDirectory, isClosed } from "../../base/data-directory.ts";
import { createLog } from "../../base/log.ts";
import {
  baselineName,
  compareReplica,
  encodingFix,
  hasTables,
  orderFix,
  readTextOrder,
  SchemaError,
  schemaState,
  settingsOff,
  wrongEncoding,
  wrongOrder,
  type Database,
} from "../../storage/index.ts";
import { hasFirstPassword, masterKeyProgress, openSecrets } from "../../tenancy/index.ts";
import { gatewayOnServerPid } from "../address.ts";
import { missingDatabaseUrl, openDatabaseOf } from "../database.ts";
import type { Environment } from "../environment.ts";
import { isUnused } from "../open.ts";
import { failed, ok, warning, type Finding } from "./findings.ts";
import { checkMasterKey } from "./machine.ts";

const skewWarnedMs = 1_000;
const skewFailedMs = 30_000;

/** An error that may separate the problem from the fix. */
interface ExplainedError extends Error {
  readonly problem?: string;
  readonly fix?: string;
}

/** Returns all findings on the database. */
export async function checkDatabase(environment: Environment): Promise<Finding[]> {
  const pid = gatewayOnServerPid(environment);
  if (pid !== undefined) {
    const { problem, fix } = missingDatabaseUrl(pid, environment.dataDir);
    return [failed("database", problem, fix)];
  }
  if (isUnused(environment) && isClosed(environment.dataDir)) {
    const { problem, fix } = closedDirectory(environment.dataDir);
    return [failed("database", problem, fix)];
  }
  if (isUnused(environment))
    return [
      ok("database", "none yet: the first start makes it"),
      checkMasterKey(environment, false),
    ];
  let database: Database;
  try {
    database = await openDatabaseOf(environment, { join: true, log: createLog("silent") });
  } catch (error) {
    const {
      message,
      problem = message,
      fix = "read database/server.log",
    } = error as ExplainedError;
    return [failed("database", problem, fix), checkMasterKey(environment, true)];
  }
  try {
    const clock = await checkClock(database);
    const durability = await checkDurability(database);
    const order = await checkTextOrder(database);
    const encoding = await checkEncoding(database);
    const schema = await checkSchema(database);
    const isUsed = await hasTables(database).catch(() => true);
    const key = checkMasterKey(environment, isUsed);
    const isReady = schema.status === "ok" && key.status === "ok";
    const ownKey = isReady ? await checkOwnKey(database, environment, key) : key;
    const first = schema.status === "ok" ? await checkFirstPassword(database) : [];
    return [
      clock,
      durability,
      order,
      ...encoding,
      schema,
      ...(await checkReplica(database, environment)),
      ownKey,
      ...first,
    ];
  } finally {
    await database.close();
  }
}

/** Describes the distance of the database's clock from this machine's, which is `skewMs` behind it. */
export function skewInWords(skewMs: number): string {
  const distance = Math.abs(skewMs);
  const amount = distance < 10_000 ? `${distance} ms` : `${Math.round(distance / 1_000)} s`;
  return `${amount} ${skewMs < 0 ? "behind" : "ahead of"} this machine's`;
}

async function checkClock(database: Database): Promise<Finding> {
  const before = Date.now();
  const [row] = await database.query<{ now: string; version: string }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::text as now, current_setting('server_version') as version",
  );
  const after = Date.now();
  const skewMs = Math.round(Number(row!.now) - (before + after) / 2);
  const message = `PostgreSQL ${row!.version} answers; its clock is ${skewInWords(skewMs)}`;
  const fix = "set both machines' clocks by NTP: expiries and limits go by them";
  // The round trip may have been all in one direction, so half of it is uncertain.
  const sure = Math.abs(skewMs) - (after - before) / 2;
  if (sure > skewFailedMs) return failed("database", message, fix);
  return sure > skewWarnedMs ? warning("database", message, fix) : ok("database", message);
}

async function checkDurability(database: Database): Promise<Finding> {
  const off = await settingsOff(database);
  if (off.length === 0) return ok("durability", "what is acknowledged is on the disk");
  return warning(
    "durability",
    `a power failure takes what was acknowledged, charges too: ${off.join(", ")} of the server ${off.length === 1 ? "is" : "are"} off`,
    "turn it on, for this user too, unless the storage below the server keeps its own log",
  );
}

async function checkTextOrder(database: Database): Promise<Finding> {
  const order = await readTextOrder(database);
  const problem = wrongOrder(order);
  if (problem !== undefined)
    return failed(
      "text order",
      `${problem} Lists, sums of usage and retention can miss calls`,
      orderFix,
    );
  if (order.isBytes) return ok("text order", `ids are in the order of time (${order.locale})`);
  return ok(
    "text order",
    `ids are in the order of time; a database with LC_COLLATE 'C' compares them faster than one of ${order.locale}`,
  );
}

/** Without a finding where all is well: nearly every database has this encoding. */
async function checkEncoding(database: Database): Promise<Finding[]> {
  const problem = await wrongEncoding(database);
  if (problem === undefined) return [];
  return [
    failed("encoding", `${problem} Their calls and tasks are not logged, or fail`, encodingFix),
  ];
}

async function canCreateTables(database: Database): Promise<boolean> {
  const [row] = await database.query<{ may: boolean }>(
    "select has_schema_privilege(coalesce(current_schema(), 'public'), 'create') as may",
  );
  return row!.may;
}

async function checkSchema(database: Database): Promise<Finding> {
  try {
    const { last, missing, newer } = await schemaState(database);
    if (missing.length === 0 && newer.length > 0)
      return ok("schema", `of a newer version (${newer.at(-1)}), which this one runs with`);
    if (missing.length === 0) return ok("schema", `up to date (${last})`);
    const areMissing =
      missing[0] === baselineName
        ? "there is none yet"
        : `${counted(missing.length, "migration is", "migrations are")} missing`;
    if (!(await canCreateTables(database)))
      return failed(
        "schema",
        `${areMissing}, and this user may make no tables`,
        "make it the owner of the database: ALTER DATABASE ... OWNER TO ...",
      );
    const fix = "start the gateway, or run tollgate migrate";
    return warning("schema", areMissing, fix);
  } catch (error) {
    if (error instanceof SchemaError) return failed("schema", error.problem, error.fix);
    return failed("schema", (error as Error).message, "check that this user may read the schema");
  }
}

const replicaWaitMsMax = 10_000;

/** Checks the replica of `DATABASE_READ_URL`, if configured: it is of this database, has its schema, and is not far behind. */
async function checkReplica(
  database: Database,
  { databaseReadUrl: url, readLagMs }: Environment,
): Promise<Finding[]> {
  if (url === undefined) return [];
  const check = "read replica";
  const waitMs = Math.min(readLagMs, replicaWaitMsMax);
  try {
    const { problem, lagMs, bytesBehind, missing } = await compareReplica(database, url, waitMs);
    if (problem !== undefined)
      return [failed(check, problem, "name a standby of this database by DATABASE_READ_URL")];
    if (lagMs === undefined)
      return [
        warning(
          check,
          `it is ${bytesBehind} bytes behind, and did not catch up in ${waitMs / 1_000} s`,
          "see pg_stat_replication at the primary, and long queries at the replica",
        ),
      ];
    if (missing.length > 0)
      return [
        warning(check, `it lacks ${counted(missing.length, "migration")}`, "run tollgate migrate"),
      ];
    return [ok(check, `follows the database, ${Math.round(lagMs)} ms behind at most`)];
  } catch (error) {
    const fix = "check DATABASE_READ_URL, and that the server lets this user in";
    return [failed(check, (error as Error).message || String(error), fix)];
  }
}

/** Warns if the first password still works: the output of the first start contains it, and so do stored logs of that output. */
async function checkFirstPassword(database: Database): Promise<Finding[]> {
  if (!(await hasFirstPassword(database))) return [];
  return [
    warning(
      "administrator",
      "the password that the first start printed still works",
      "sign in to the console and choose another one, on the page Account",
    ),
  ];
}

async function checkOwnKey(
  database: Database,
  environment: Environment,
  found: Finding,
): Promise<Finding> {
  try {
    await openSecrets({ ...environment, database });
    return checkRotation(await masterKeyProgress({ ...environment, database }), found);
  } catch (error) {
    return failed("master key", (error as Error).message, "give the key of this database");
  }
}

/** Finds whether the replacement of the master key must be started or finished, or is over. */
function checkRotation(
  { isPending, left, isPreviousGiven }: Awaited<ReturnType<typeof masterKeyProgress>>,
  found: Finding,
): Finding {
  if (isPending)
    return warning(
      "master key",
      `${counted(left, "value is", "values are")} still sealed under the key before it`,
      "run tollgate rotate-master-key",
    );
  if (!isPreviousGiven) return found;
  const fix = "leave TOLLGATE_MASTER_KEY_PREVIOUS (or the file master-key.previous) out";
  return warning("master key", `${found.message}; nothing needs the key before it any more`, fix);
}

/** `tollgate backup` and `tollgate restore`: everything except the master key, with or without a running gateway. docs/data.md. */
import type { Writable } from "node:stream";
import { counted } from "../base/counted.ts";
import { createLog } from "../base/log.ts";
import {
  restoreBackup,
  writeBackup,
  type BackupEnd,
  type Progress,
  type RestoreOutcome,
} from "../backup/index.ts";
import { openFileStore } from "../files/index.ts";
import type { Database } from "../storage/index.ts";
import { checkMasterKeys, MasterKeyError, openSecrets } from "../tenancy/index.ts";
import { destroyOnSignal, openBackup, withBackupFile } from "./backup-file.ts";
import { settingsForCommands } from "./catalog.ts";
import { openDatabaseOf } from "./database.ts";
import { readEnvironment, type Environment } from "./environment.ts";
import { refuseUnused } from "./open.ts";
import { printJson } from "./print.ts";
import { version } from "../base/own-files.ts";

export interface BackupCommandOptions {
  readonly json?: boolean;
}

export interface RestoreCommandOptions extends BackupCommandOptions {
  readonly replace?: boolean;
}

const everyMs = 1_000;

/** Returns a function that prints the progress about once a second. */
function createProgress(): (progress: Progress) => void {
  let shownMs = performance.now();
  return ({ what, done }) => {
    const now = performance.now();
    if (now - shownMs < everyMs) return;
    shownMs = now;
    console.error(`tollgate: ${what}: ${done.toLocaleString("en-US")}`);
  };
}

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

function printEnd(end: BackupEnd, verb: string, { json }: BackupCommandOptions): void {
  if (json) return printJson(end);
  const tables = Object.keys(end.tables).length;
  console.error(
    `tollgate: ${verb} ${counted(total(end.tables), "row")} of ${counted(tables, "table")} and ${counted(end.files, "file")}`,
  );
}

interface Opened {
  readonly environment: Environment;
  readonly database: Database;
}

async function withPlaces<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
  const environment = readEnvironment(process.env);
  const database = await openDatabaseOf(environment, { join: true, log: createLog("warn") });
  try {
    return await work({ environment, database });
  } finally {
    await database.close();
  }
}

/** Writes a backup of the database and its files to `path`. */
export async function backupCommand(path: string, options: BackupCommandOptions): Promise<void> {
  refuseUnused(readEnvironment(process.env));
  const { written, directory } = await withBackupFile(path, writeInto);
  const { missingFiles, ...end } = written;
  const shown = { ...end, missing_files: missingFiles };
  printEnd(shown, "wrote", { json: options.json === true && path !== "-" });
  if (missingFiles > 0) console.error(missingWarning(missingFiles, directory!));
  const rest = directory !== undefined ? "Keep" : "The files stay in their bucket; keep";
  console.error(`${rest} the master key apart: without it no key in the backup can be read.`);
}

const missingWarning = (count: number, directory: string): string =>
  `tollgate: warning: ${counted(count, "file that the database names is", "files that the database names are")} not below ${directory}, and not in the backup. Set TOLLGATE_DATA_DIR to the data directory of the gateway that stored them`;

const writeInto = (destination: Writable) =>
  withPlaces(async ({ environment, database }) => {
    const { storage } = await settingsForCommands(environment);
    const files =
      storage.kind === "local" ? await openFileStore(storage, environment.dataDir) : undefined;
    const progress = createProgress();
    const written = await writeBackup({ database, files, destination, version, progress });
    return { written, directory: files && environment.dataDir };
  });

/** Rewords a master key error, whose text at a start is about the gateway's own database, not a backup. @throws the error */
function rewordKeyError(error: unknown): never {
  if (!(error instanceof MasterKeyError)) throw error;
  throw new MasterKeyError(
    `The backup does not open here, and nothing was restored. ${error.message}`,
  );
}

/** Lines about the database after a restore that failed. */
const leftBy: Readonly<Record<RestoreOutcome, string>> = {
  unchanged: "nothing was restored; the database is as it was",
  restored:
    "the backup was restored all the same, as its last step was done; restart gateways that run on it",
  unknown:
    "the connection broke at the last step, so the backup may be restored or not; look when the database answers again",
};

/** Restores the backup at `path`, completely or not at all. A signal ends it as an error of the file does. */
export async function restoreCommand(path: string, options: RestoreCommandOptions): Promise<void> {
  await checkMasterKeys(readEnvironment(process.env));
  const source = path === "-" ? process.stdin : openBackup(path);
  const forget = destroyOnSignal(source);
  await withPlaces(async ({ environment, database }) => {
    const { storage } = await settingsForCommands(environment);
    const files = await openFileStore(storage, environment.dataDir);
    const end = await restoreBackup({
      database,
      files,
      source,
      replace: options.replace === true,
      progress: createProgress(),
      log: createLog("warn"),
      failed: (outcome) => console.error(`tollgate: ${leftBy[outcome]}`),
      async check(tx) {
        await openSecrets({ ...environment, database: tx }).catch(rewordKeyError);
      },
    });
    printEnd(end, "restored", options);
  }).finally(forget);
}

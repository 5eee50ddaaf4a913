/** A backup in memory. */
import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { writeBackup } from "../../src/backup/index.ts";
import type { FileStore } from "../../src/files/index.ts";
import type { Database } from "../../src/storage/index.ts";

/** The bytes of a backup of a database, and of its files if `files` is given. */
export async function backupOf(database: Database, files?: FileStore): Promise<Buffer> {
  const destination = new PassThrough();
  const bytes = buffer(destination);
  const progress = (): void => undefined;
  await writeBackup({ database, files, destination, version: "0", progress });
  return bytes;
}

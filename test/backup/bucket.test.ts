/** Files in a bucket are in no backup and stay where they are: a restore leaves what its database names. */
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { restoreBackup, writeBackup } from "../../src/backup/index.ts";
import type { FileStore } from "../../src/files/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";

const nothing = (): void => undefined;

async function backupOf(database: Database): Promise<Buffer> {
  const destination = new PassThrough();
  const bytes = buffer(destination);
  await writeBackup({ database, files: undefined, destination, version: "0", progress: nothing });
  return bytes;
}

/** A bucket that only tells what it was to remove. */
function bucket(): { readonly files: FileStore; readonly removed: string[] } {
  const removed: string[] = [];
  const files: FileStore = {
    put: () => Promise.reject(new Error("no file of the backup is put")),
    open: () => Promise.resolve(undefined),
    remove(name) {
      removed.push(name);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  return { files, removed };
}

describeDatabase("a restore where files are in a bucket", (open) => {
  it("STORE-01: removes the files that no row names any more, and no other", async () => {
    const database = await open();
    const add = (name: string): Promise<object[]> =>
      database.query(
        `insert into files (workspace_id, name, purpose, media_type, bytes, created_at, expires_at)
         values ('w', $1, 'result', 'image/png', 1, now(), now() + interval '7 days')`,
        [name],
      );
    await add("of-the-backup");
    const bytes = await backupOf(database);
    await add("made-since");
    const { files, removed } = bucket();
    await restoreBackup({
      database,
      files,
      source: Readable.from([bytes]),
      replace: true,
      check: () => Promise.resolve(),
      progress: nothing,
    });
    expect(await database.query("select name from files")).toEqual([{ name: "of-the-backup" }]);
    expect(removed).toEqual(["made-since"]);
  });
});

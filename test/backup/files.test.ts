/** A restore and files: afterwards the files that the backup names are there, and earlier ones are not. */
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { carryOver, restoreBackup, writeBackup } from "../../src/backup/index.ts";
import { openFileStore, type FileStore } from "../../src/files/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase, temporaryDirectory } from "../support/postgres.ts";
import { backupOf } from "./bytes.ts";

const nothing = (): void => undefined;

const restoreInto = (
  database: Database,
  files: FileStore,
  bytes: Buffer,
  failed: (outcome: string) => void = nothing,
) =>
  restoreBackup({
    failed,
    database,
    files,
    source: Readable.from([bytes]),
    replace: true,
    check: () => Promise.resolve(),
    progress: nothing,
  });

const add = (database: Database, name: string): Promise<object[]> =>
  database.query(
    `insert into files (workspace_id, name, purpose, media_type, bytes, created_at, expires_at)
     values ('w', $1, 'result', 'image/png', 3, now(), now() + interval '7 days')`,
    [name],
  );

/** A bucket that only records which files it should remove. */
function bucket(): { readonly files: FileStore; readonly removed: string[] } {
  const removed: string[] = [];
  const files: FileStore = {
    heldBytes: 0,
    put: () => Promise.reject(new Error("no file of the backup is put")),
    open: () => Promise.resolve(undefined),
    size: () => Promise.resolve(undefined),
    remove(name) {
      removed.push(name);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  return { files, removed };
}

/** A database whose first transaction loses its connection at the commit: committed, or not. */
function cutAtCommit(database: Database, isCommitted: boolean): Database {
  let isCut = false;
  return {
    ...database,
    async transaction(work, options) {
      if (isCut) return database.transaction(work, options);
      isCut = true;
      const cut = new Error("the connection was cut");
      await database.transaction(async (tx) => {
        await work(tx);
        if (!isCommitted) throw cut;
      }, options);
      throw cut;
    },
  };
}

describeDatabase("files of a restore", (open) => {
  it("STORE-01: are removed from a bucket if no row names them any more, and only those", async () => {
    const database = await open();
    await add(database, "of-the-backup");
    const bytes = await backupOf(database);
    await add(database, "made-since");
    const { files, removed } = bucket();
    await restoreInto(database, files, bytes);
    expect(await database.query("select name from files")).toEqual([{ name: "of-the-backup" }]);
    expect(removed).toEqual(["made-since"]);
  });

  it("are named in one warning, with the reason and the fix, if they cannot be removed", async () => {
    const database = await open();
    const bytes = await backupOf(database);
    await add(database, "made-since");
    const { files } = bucket();
    const denied = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    const warnings: unknown[] = [];
    await restoreBackup({
      database,
      files: { ...files, remove: () => Promise.reject(denied) },
      source: Readable.from([bytes]),
      replace: true,
      check: () => Promise.resolve(),
      progress: nothing,
      log: { warn: (fields: object) => void warnings.push(fields) },
    });
    const fix = expect.stringContaining("chown");
    expect(warnings).toEqual([{ failed: 1, names: ["made-since"], reason: denied.message, fix }]);
  });

  it("are removed after running gateways were told of the restore: a large bucket takes long", async () => {
    const database = await open();
    const bytes = await backupOf(database);
    for (const name of ["one", "two"]) await add(database, name);
    const { files, removed } = bucket();
    const steps: string[] = [];
    const telling: Database = {
      ...database,
      query(sql, params) {
        if (sql.includes("pg_terminate_backend")) steps.push(`told, ${removed.length} removed`);
        return database.query(sql, params);
      },
    };
    await restoreInto(telling, files, bytes);
    expect(steps).toEqual(["told, 0 removed"]);
    expect(removed.toSorted()).toEqual(["one", "two"]);
  });

  it("STORE-01: come back from the backup if the database outlived their disk", async () => {
    const database = await open();
    const files = await openFileStore({ kind: "local" }, temporaryDirectory());
    const text = async (name: string): Promise<string | undefined> => {
      const file = await files.open(name);
      return file && (await buffer(file.stream)).toString();
    };
    const names = ["lost", "kept"];
    for (const name of names) {
      await add(database, name);
      await files.put(name, Buffer.from("abc"), { mediaType: "image/png", bytesMax: 3 });
    }
    const bytes = await backupOf(database, files);
    await files.remove("lost");
    // A failed restore leaves the store as it was.
    await expect(restoreInto(database, files, bytes.subarray(0, -1))).rejects.toThrow("cut off");
    expect(await Promise.all(names.map(text))).toEqual([undefined, "abc"]);
    await restoreInto(database, files, bytes);
    expect(await Promise.all(names.map(text))).toEqual(["abc", "abc"]);
    await files.close();
  });

  it("STORE-01: are counted as missing if they are on another disk, but not if they have expired", async () => {
    const database = await open();
    const files = await openFileStore({ kind: "local" }, temporaryDirectory());
    await files.put("here", Buffer.from("abc"), { mediaType: "image/png", bytesMax: 3 });
    for (const name of ["elsewhere", "here", "expiring"]) await add(database, name);
    const expiring: FileStore = {
      ...files,
      async open(name) {
        await database.query("update files set expires_at = now() where name = 'expiring'");
        return files.open(name);
      },
    };
    const destination = new PassThrough();
    const bytes = buffer(destination);
    const quiet = { database, destination, version: "0", progress: nothing };
    expect(await writeBackup({ ...quiet, files: expiring })).toMatchObject({
      files: 1,
      missingFiles: 1,
    });
    await restoreInto(database, files, await bytes);
    await files.close();
  });

  it("a restore records its time; carrying over a database copies an earlier record and adds none", async () => {
    const restoreNotes = (database: Database) =>
      database.query("select name from settings where name = 'restored_at'");
    const [from, restored, carried] = [await open(), await open(), await open()];
    await restoreInto(restored, bucket().files, await backupOf(from));
    expect(await restoreNotes(restored)).toHaveLength(1);
    await carryOver(from, carried);
    expect(await restoreNotes(carried)).toEqual([]);
    // The note of an earlier restore is copied too.
    await carryOver(restored, carried);
    expect(await restoreNotes(carried)).toHaveLength(1);
  });

  /** A backup of a file that its store has lost since. */
  const backedUp = async () => {
    const database = await open();
    const files = await openFileStore({ kind: "local" }, temporaryDirectory());
    await add(database, "kept");
    await files.put("kept", Buffer.from("abc"), { mediaType: "image/png", bytesMax: 3 });
    const bytes = await backupOf(database, files);
    await files.remove("kept");
    return { database, files, bytes };
  };

  it("stay if the restore was committed and a later step failed", async () => {
    const { database, files, bytes } = await backedUp();
    const refusing: Database = { ...database, query: () => Promise.reject(new Error("denied")) };
    await expect(restoreInto(refusing, files, bytes)).rejects.toThrow("was restored");
    const file = await files.open("kept");
    expect(file && (await buffer(file.stream)).toString()).toBe("abc");
    await files.close();
  });

  it("stay if the connection broke after the commit, and are removed if nothing was committed", async () => {
    for (const isCommitted of [true, false]) {
      const { database, files, bytes } = await backedUp();
      await database.query("delete from files");
      const outcomes: string[] = [];
      const failed = (outcome: string): void => void outcomes.push(outcome);
      await expect(
        restoreInto(cutAtCommit(database, isCommitted), files, bytes, failed),
      ).rejects.toThrow("the connection was cut");
      expect(outcomes).toEqual([isCommitted ? "restored" : "unchanged"]);
      const file = await files.open("kept");
      file?.stream.destroy();
      expect({ isCommitted, isThere: file !== undefined }).toEqual({
        isCommitted,
        isThere: isCommitted,
      });
      expect(await database.query("select name from files")).toHaveLength(isCommitted ? 1 : 0);
      await files.close();
    }
  });
});

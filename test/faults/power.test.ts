/** After a power failure, everything that the program confirmed is still there: its bytes, its name, and the parent directories. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { afterEach, expect, it } from "vitest";
import { withBackupFile } from "../../src/cli/backup-file.ts";
import {
  createOwnedDirectory,
  prepareDatabaseDirectory,
  renameDurably,
} from "../../src/embedded/database-directory.ts";
import { openLocalFiles } from "../../src/files/local.ts";
import { loadMasterKey } from "../../src/tenancy/master-key.ts";
import { watchDisk, type DiskModel } from "../support/disk-model.ts";
import { temporaryDirectory } from "../support/postgres.ts";

let disk: DiskModel;
afterEach(() => disk.end());

function watched(): string {
  const root = temporaryDirectory();
  disk = watchDisk(root);
  return root;
}

it("the disk model reports new names and written bytes as at risk until they are synced", async () => {
  const root = watched();
  mkdirSync(join(root, "made"));
  const { openSync, closeSync, fsyncSync, renameSync } = await import("node:fs");
  const file = openSync(join(root, "made/a"), "w");
  expect(disk.atRisk()).toEqual(["made", "made/a"]);
  fsyncSync(file);
  closeSync(file);
  renameSync(join(root, "made/a"), join(root, "made/b"));
  expect(disk.atRisk()).toEqual(["made", "made/b"]);
  for (const place of [root, join(root, "made")]) fsyncSync(openSync(place, "r"));
  expect(disk.atRisk()).toEqual([]);
});

it("a master key is synced to disk before it encrypts anything", async () => {
  const root = watched();
  await loadMasterKey({ dataDir: join(root, "made", "on the way") });
  expect(existsSync(join(root, "made/on the way/master-key"))).toBe(true);
  expect(disk.atRisk()).toEqual([]);
});

it("a task's file is synced to disk before it is acknowledged", async () => {
  const root = watched();
  const files = await openLocalFiles(join(root, "data", "files"));
  await files.put("a.png", Buffer.from("a picture"), { mediaType: "image/png", bytesMax: 100 });
  expect(disk.atRisk()).toEqual([]);
});

it("a backup that is reported as written is synced to disk", async () => {
  const root = watched();
  await withBackupFile(
    join(root, "a.backup"),
    (to: Writable) =>
      new Promise<void>((resolve, reject) => {
        to.on("error", reject).on("close", resolve);
        to.end("rows");
      }),
  );
  expect(disk.atRisk()).toEqual([]);
});

it("the embedded database's directory is synced to disk before it holds data", () => {
  const root = watched();
  const directory = join(root, "data", "database");
  prepareDatabaseDirectory(directory, undefined);
  createOwnedDirectory(join(directory, "unfinished"), undefined);
  renameDurably(directory, "unfinished", "18");
  expect(disk.atRisk()).toEqual([]);
});

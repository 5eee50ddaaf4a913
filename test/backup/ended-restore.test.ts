/** A restore that a signal or a full disk ends: it reports what it left. docs/data.md. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { restoreBackup } from "../../src/backup/index.ts";
import { silentLog } from "../../src/base/log.ts";
import { openFileStore } from "../../src/files/index.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { main } from "../support/program.ts";
import { backupOf } from "./bytes.ts";

async function migrated() {
  const url = await (await sharedPostgres()).createMigrated();
  const database = await openDatabase({ url, log: silentLog });
  onTestFinished(() => database.close());
  return { url, database };
}

it.skipIf(process.platform === "win32")(
  "a signal ends a restore, which says that nothing was restored",
  async () => {
    const { url, database } = await migrated();
    const bytes = await backupOf(database);
    const child = spawn(process.execPath, [main, "restore", "-"], {
      env: { ...process.env, DATABASE_URL: url, TOLLGATE_DATA_DIR: temporaryDirectory() },
      stdio: ["pipe", "ignore", "pipe"],
    });
    const [printed, exited] = [text(child.stderr), once(child, "exit")];
    child.stdin.on("error", () => undefined);
    child.stdin.write(bytes.subarray(0, -1));
    const waiting = () =>
      database.query(
        "select 1 from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
      );
    await expect.poll(waiting).not.toEqual([]);
    child.kill("SIGTERM");
    expect(await exited).toEqual([1, null]);
    expect((await printed).trim().split("\n").slice(-2)).toEqual([
      "tollgate: nothing was restored; the database is as it was",
      "tollgate: SIGTERM ended the restore",
    ]);
    expect(await database.query("select from settings where name = 'restored_at'")).toEqual([]);
  },
);

it("a file for which the disk has no room is named, and nothing is restored", async () => {
  const { database } = await migrated();
  const files = await openFileStore({ kind: "local" }, temporaryDirectory());
  onTestFinished(() => files.close());
  await database.query(
    `insert into files (workspace_id, name, purpose, media_type, bytes, created_at, expires_at)
     values ('w', 'picture', 'result', 'image/png', 3, now(), now() + interval '7 days')`,
  );
  await files.put("picture", Buffer.from("abc"), { mediaType: "image/png", bytesMax: 3 });
  const bytes = await backupOf(database, files);
  await files.remove("picture");
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
    code: "ENOSPC",
    syscall: "write",
  });
  const outcomes: string[] = [];
  const restoring = restoreBackup({
    database,
    files: { ...files, put: () => Promise.reject(full) },
    source: Readable.from([bytes]),
    replace: true,
    check: () => Promise.resolve(),
    progress: () => undefined,
    failed: (outcome) => outcomes.push(outcome),
  });
  await expect(restoring).rejects.toThrow(
    "the file picture could not be stored in the data directory (ENOSPC)",
  );
  expect(outcomes).toEqual(["unchanged"]);
});

/** A start on a disk that takes no data says what to do, and leaves nothing behind. docs/database.md "The embedded database". */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DataDirectoryUnusableError } from "../../src/base/data-directory.ts";
import { explain } from "../../src/cli/explain.ts";
import { createCluster } from "../../src/embedded/cluster.ts";
import { tryLock } from "../../src/embedded/data-lock.ts";
import { openDirectory } from "../../src/embedded/directory.ts";
import { DatabaseNotStartedError } from "../../src/embedded/server-log.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const free = "Free space on its disk (df -h), or inodes (df -i), and start again.";

describe("an error of the disk at a start", () => {
  it.runIf(process.platform !== "win32")(
    "names the directory, the output of initdb and the fix, at the first start",
    async () => {
      const place = temporaryDirectory();
      const directory = join(place, "database");
      mkdirSync(directory);
      const said = 'could not write to file "base/5/1255": No space left on device';
      writeFileSync(join(place, "initdb"), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`, {
        mode: 0o755,
      });
      const home = openDirectory(directory);
      onTestFinished(() => home.close());
      const site = { binaries: { directory: place, major: 18 }, identity: undefined, home };
      const error: unknown = await createCluster(site, directory, undefined).catch(
        (refused: unknown) => refused,
      );
      expect(error).toBeInstanceOf(DataDirectoryUnusableError);
      const { text } = await explain(error);
      expect(text).toContain(`The data directory ${place} cannot be used: initdb ended with 1`);
      expect(text).toContain(said);
      expect(text).toMatch(/and start again\.$/);
    },
  );

  it.each([
    ["ENOSPC: no space left on device, write", free],
    ["wrote only 4096 of 8192 bytes\nHINT:  Check free disk space.", free],
    ["EDQUOT: disk quota exceeded, write", "Raise the quota of its disk"],
    ["EROFS: read-only file system, chmod '/data'", "Mount its file system writable"],
    ["EMFILE: too many open files, open '/data/gateway.json.1'", "Raise the limit of open files"],
    ["FATAL:  insufficient file descriptors available to start server process", "(ulimit -n)"],
    ["EACCES: permission denied, open '/data/lock.sqlite'", "Make it writable for this user"],
  ])("names the fix at a later start: %s", (why, fix) => {
    const error = new DataDirectoryUnusableError("/data", new Error(why));
    expect(error.message).toBe(`${error.problem} ${error.fix}`);
    expect(error.fix).toContain(fix);
  });

  it("names the fix before the log file, if the server reports it", () => {
    const said = 'FATAL:  could not write to file "pg_wal/xlogtemp.31": No space left on device';
    const { message } = new DatabaseNotStartedError("/data/database", said);
    expect(message).toContain(`${said}\n${free} All that it said is in `);
  });
});

it("a record of the holder that cannot be written leaves no lock and no file", () => {
  const dataDir = temporaryDirectory();
  mkdirSync(join(dataDir, "gateway.json", "in the way"), { recursive: true });
  expect(() => tryLock(dataDir)).toThrow(/EISDIR|EPERM|ENOTEMPTY|EEXIST|EACCES/);
  expect(readdirSync(dataDir).sort()).toEqual(["gateway.json", "lock.sqlite"]);
  rmSync(join(dataDir, "gateway.json"), { recursive: true });
  const lock = tryLock(dataDir);
  expect(lock).toBeDefined();
  lock?.release();
});

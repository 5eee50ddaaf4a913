/** A backup file gets its name only when it is complete, even if two are written to one name at once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { expect, it } from "vitest";
import { withBackupFile } from "../../src/cli/backup-file.ts";
import { temporaryDirectory } from "../support/postgres.ts";

/** Writes a text; it waits for `begun` between the first bytes and the rest. */
const writing = (text: string, begun: () => Promise<void>) => async (to: Writable) => {
  to.write(text.slice(0, 3));
  await begun();
  to.end(text.slice(3));
  await finished(to);
  return text;
};

it("two backups written to one name at once leave one complete file, and the other backup reports that it was not kept", async () => {
  const directory = temporaryDirectory();
  const path = join(directory, "daily.backup");
  const both = Promise.withResolvers<void>();
  let count = 0;
  const begun = async (): Promise<void> => {
    count += 1;
    if (count === 2) both.resolve();
    await both.promise;
  };
  const [first, last] = await Promise.allSettled([
    withBackupFile(path, writing("first, and the longer one", begun)),
    withBackupFile(path, writing("last", begun)),
  ]);
  expect(String((first as PromiseRejectedResult).reason)).toMatch(
    /another backup to .*daily\.backup was begun meanwhile; this one is not kept/,
  );
  expect(last).toEqual({ status: "fulfilled", value: "last" });
  expect(readFileSync(path, "utf8")).toBe("last");
  expect(readdirSync(directory)).toEqual(["daily.backup"]);
});

it("the leftover of a killed backup is overwritten", async () => {
  const directory = temporaryDirectory();
  const path = join(directory, "daily.backup");
  writeFileSync(`${path}.part`, "much of a backup that was never whole");
  await withBackupFile(
    path,
    writing("whole", () => Promise.resolve()),
  );
  expect(readFileSync(path, "utf8")).toBe("whole");
  expect(readdirSync(directory)).toEqual(["daily.backup"]);
});

it.skipIf(process.platform === "win32")(
  "a backup that is ended by a signal leaves no file, and the process ends by that signal",
  async () => {
    const directory = temporaryDirectory();
    const file = new URL("../../src/cli/backup-file.ts", import.meta.url).href;
    const script = `const { withBackupFile } = await import(${JSON.stringify(file)});
      await withBackupFile(process.argv[1], async (to) => {
        to.write("half of it", () => console.log("begun"));
        setInterval(Object, 2 ** 30);
        await new Promise(Object);
      });`;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const path = join(directory, `${signal}.backup`);
      const args = ["--input-type=module", "--eval", script, path];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(child, "exit");
      await once(child.stdout, "data");
      expect(readdirSync(directory)).toEqual([`${signal}.backup.part`]);
      child.kill(signal);
      expect(await ended).toEqual([null, signal]);
      expect(readdirSync(directory)).toEqual([]);
    }
  },
);

/** Copies of PostgreSQL's programs: leftovers of killed starts are removed, and nothing else is. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pidNamespace } from "../../src/base/process-alive.ts";
import { copyPrograms } from "../../src/embedded/copies.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const isRoot = process.getuid?.() === 0;
const machine = hostname().replaceAll(/[^a-z0-9]/gi, "");
/** With the pid namespace: containers with the machine's name have their own process numbers. */
const host = machine + pidNamespace;
const child = new URL("./copies-child.ts", import.meta.url).pathname;

/** Small files instead of the programs. */
function programs() {
  const native = temporaryDirectory();
  mkdirSync(join(native, "bin"));
  writeFileSync(join(native, "bin/postgres"), "a program");
  return { native, version: "18.4" };
}

/** The process id of a process that has ended. */
const deadProcessId = (): number => spawnSync("true").pid;

/** An unfinished copy by a process of this machine, with a file in it. */
function leave(place: string, name: string): string {
  const path = join(place, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "file"), "");
  return path;
}

it("the next start removes the copy of a killed start", () => {
  const place = join(temporaryDirectory(), "programs");
  const found = programs();
  for (let killed = 0; killed < 2; killed += 1) {
    const { signal } = spawnSync(process.execPath, [child, place, found.native, found.version]);
    expect(signal).toBe("SIGKILL");
    expect(readdirSync(place)).toEqual([expect.stringMatching(/^copy-/)]);
  }
  expect(copyPrograms(place, found)).toBe(join(place, "postgresql-18.4"));
  expect(readdirSync(place)).toEqual(["postgresql-18.4"]);
});

it("copies in progress stay, on this machine and on others, and so do other directories", () => {
  const place = join(temporaryDirectory(), "programs");
  const found = programs();
  copyPrograms(place, found);
  leave(place, `copy-${host}-${process.ppid}-abc`);
  leave(place, `copy-another-${deadProcessId()}-abc`);
  // Another container with this host name has its own process numbers, which may be equal to ours.
  leave(place, `copy-${machine}4026599999-${deadProcessId()}-abc`);
  leave(place, `copy-${machine}4026599999-${process.pid}-abc`);
  leave(place, "postgresql-17.1");
  const dead = leave(place, `copy-${host}-${deadProcessId()}-abc`);
  // From a release that did not put names in, or from a container that no longer exists.
  const old = leave(place, "copy-Xy12Zw");
  utimesSync(old, new Date(0), new Date(0));
  copyPrograms(place, found);
  expect([dead, old].filter((path) => existsSync(path))).toEqual([]);
  expect(readdirSync(place)).toHaveLength(6);
});

it("links are never followed, and their targets keep their files", () => {
  const place = join(temporaryDirectory(), "programs");
  const found = programs();
  copyPrograms(place, found);
  const victim = leave(temporaryDirectory(), "victim");
  symlinkSync(victim, join(place, `copy-${host}-${deadProcessId()}-link`));
  const inside = leave(place, `copy-${host}-${deadProcessId()}-dir`);
  symlinkSync(victim, join(inside, "link"));
  copyPrograms(place, found);
  expect(existsSync(inside)).toBe(false);
  expect(readdirSync(victim)).toEqual(["file"]);
});

it.skipIf(!isRoot)("under root, directories of other users stay unchanged", () => {
  const hostile = temporaryDirectory();
  const place = join(hostile, "programs");
  const found = programs();
  copyPrograms(place, found);
  const name = `copy-${host}-${deadProcessId()}-abc`;
  const other = leave(place, name);
  chownSync(other, 65_534, 65_534);
  copyPrograms(place, found);
  expect(existsSync(other)).toBe(true);
  // If another user owns the parent directory, `place` may be swapped for a link at any moment.
  chownSync(other, 0, 0);
  chownSync(hostile, 65_534, 65_534);
  copyPrograms(place, found);
  expect(existsSync(other)).toBe(true);
  chownSync(hostile, 0, 0);
  copyPrograms(place, found);
  expect(existsSync(other)).toBe(false);
  chmodSync(place, 0o777);
  expect(() => copyPrograms(place, found)).toThrow(/others may write to it/);
});

it.skipIf(process.platform === "win32")(
  "copied programs can be run by the server's user, whatever the umask",
  () => {
    const place = join(temporaryDirectory(), "programs");
    const before = process.umask(0o077);
    try {
      const target = copyPrograms(place, programs());
      for (const path of [place, target, join(target, "bin/postgres")])
        expect(statSync(path).mode & 0o777).toBe(0o755);
    } finally {
      process.umask(before);
    }
  },
);

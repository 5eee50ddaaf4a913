/** Attacks on the directory of the embedded server, and gateways that die while they create it. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/storage/index.ts";
import { clusterOf, serverPid } from "../support/embedded.ts";
import { shortOrLong } from "../support/long.ts";
import { preparedDataDir, silentLog, temporaryDirectory } from "../support/postgres.ts";

const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === "linux";

const open = (dataDir: string) => openDatabase({ dataDir, log: silentLog });

async function expectWorks(dataDir: string): Promise<void> {
  const database = await open(dataDir);
  const rows = await database.query("select current_setting('fsync') as fsync", []);
  expect(rows).toEqual([{ fsync: "on" }]);
  await database.close();
}

/** A file of root that an attacker would like to change or read. `state` shows whether it is unchanged. */
function makeVictim() {
  const path = join(temporaryDirectory(), "victim");
  writeFileSync(path, "root's own\n", { mode: 0o600 });
  const state = () => {
    const { uid, mode } = statSync(path);
    return { text: readFileSync(path, "utf8"), uid, mode };
  };
  const before = state();
  return { path, expectUntouched: () => expect(state()).toEqual(before) };
}

/** Runs commands as the server's user, with `database` as descriptor 3; returns whether they succeed. */
function asServer(dataDir: string, commands: string): boolean {
  const { uid, gid } = statSync(clusterOf(dataDir));
  const home = openSync(join(dataDir, "database"), "r");
  const { status } = spawnSync("/bin/sh", ["-c", commands.replaceAll("~", "/proc/self/fd/3")], {
    uid,
    gid,
    cwd: "/",
    stdio: ["ignore", "ignore", "ignore", home],
  });
  closeSync(home);
  return status === 0;
}

it.skipIf(!isRoot || !isLinux)(
  "under root, an attacker with the server's user cannot redirect a start by a link",
  async () => {
    const dataDir = await preparedDataDir();
    await expectWorks(dataDir);
    const victim = makeVictim();
    for (const attack of [
      "mv ~/18 ~/moved",
      `rm ~/server.log || ln -s ${victim.path} ~/server.log.1`,
      `rm ~/custom.conf`,
      `ln -s ${victim.path} ~/19`,
      "mkdir ~/18.new",
    ])
      expect({ attack, done: asServer(dataDir, attack) }).toEqual({ attack, done: false });
    const settings = `ln -sf ${victim.path} ~/18/postgresql.conf && ln -s ${victim.path} ~/18/postgresql.conf.new`;
    expect(asServer(dataDir, settings)).toBe(true);
    await expectWorks(dataDir);
    victim.expectUntouched();
  },
);

it.skipIf(!isRoot || !isLinux)(
  "links planted while the server's user owned the directory are refused with an explanation",
  async () => {
    const dataDir = await preparedDataDir();
    const victim = makeVictim();
    const { uid, gid } = statSync(clusterOf(dataDir));
    const database = join(dataDir, "database");
    for (const name of ["server.log", "custom.conf", "18"]) {
      chownSync(database, uid, gid);
      const aside = join(temporaryDirectory(), name);
      if (name === "18") renameSync(clusterOf(dataDir), aside);
      const link = `rm -f ~/${name}; ln -s ${victim.path} ~/${name}`;
      const home = openSync(database, "r");
      const planted = spawnSync("/bin/sh", ["-c", link.replaceAll("~", "/proc/self/fd/3")], {
        uid,
        gid,
        cwd: "/",
        stdio: ["ignore", "ignore", "ignore", home],
      });
      closeSync(home);
      expect(planted.status).toBe(0);
      await expect(open(dataDir)).rejects.toThrow(
        new RegExp(`database/${name} .* belongs to user ${uid}: remove it`),
      );
      victim.expectUntouched();
      rmSync(join(database, name));
      if (name === "18") renameSync(aside, clusterOf(dataDir));
    }
    await expectWorks(dataDir);
  },
);

it.skipIf(!isRoot || !isLinux)(
  "the server never has root's group, whichever group owns its data",
  async () => {
    const dataDir = await preparedDataDir();
    execFileSync("chown", ["-R", "12345:0", clusterOf(dataDir)]);
    const database = await open(dataDir);
    const status = readFileSync(`/proc/${serverPid(dataDir)}/status`, "utf8");
    expect(/^Uid:\s+(\d+)/m.exec(status)![1]).toBe("12345");
    expect(status).not.toMatch(/^(?:Gid|Groups):.*\s0\b/m);
    await database.close();
  },
);

it.skipIf(!isLinux)("another process in the data directory is not killed", async () => {
  const dataDir = await preparedDataDir();
  const operator = spawn("sleep", ["60"], { cwd: clusterOf(dataDir), stdio: "ignore" });
  const ended = once(operator, "exit");
  await expectWorks(dataDir);
  expect([operator.exitCode, operator.signalCode]).toEqual([null, null]);
  operator.kill();
  await ended;
});

it.skipIf(!isLinux)(
  "a gateway killed while it creates the database does not disturb the next start",
  async () => {
    for (const ms of shortOrLong([0], [0, 50, 100, 150, 200, 300, 400, 500, 600, 800])) {
      const dataDir = temporaryDirectory();
      const program = new URL("./killed-at-spawn-child.ts", import.meta.url).pathname;
      const child = spawn(process.execPath, [program, dataDir, "initdb", String(ms)], {
        stdio: "inherit",
      });
      expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
      await expectWorks(dataDir);
    }
  },
);

it("the server's log has the error and not the content of rows", async () => {
  const dataDir = await preparedDataDir();
  const database = await open(dataDir);
  await database.query("create table refused (words text constraint never check (false))");
  const failed = database.query("insert into refused values ($1)", ["what a caller sent"]);
  await expect(failed).rejects.toThrow("never");
  const said = () => readFileSync(join(dataDir, "database/server.log"), "utf8");
  await expect.poll(said).toContain('violates check constraint "never"');
  await database.close();
  expect(said()).not.toContain("what a caller sent");
});

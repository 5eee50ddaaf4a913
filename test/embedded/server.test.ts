/** The embedded PostgreSQL: its settings, and every state of the data directory that a start may find. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { explain } from "../../src/cli/explain.ts";
import { carryOver } from "../../src/backup/index.ts";
import { openDirectory } from "../../src/embedded/directory.ts";
import {
  createOwnedDirectory,
  prepareDatabaseDirectory,
} from "../../src/embedded/database-directory.ts";
import { serverIdentity } from "../../src/embedded/identity.ts";
import { runProgram, pathForServer, type Site } from "../../src/embedded/programs.ts";
import { startServer } from "../../src/embedded/server.ts";
import { prepareSocket } from "../../src/embedded/transport.ts";
import { connect } from "../../src/storage/connect.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { canMount, mountDisk, unmountDisk } from "../support/disk.ts";
import { clusterOf, serverPid, serverProcesses } from "../support/embedded.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { patienceMs } from "../support/patience.ts";
import { preparedDataDir, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { startHolder } from "./holder.ts";

const open = (dataDir: string): Promise<Database> => openDatabase({ dataDir, log: silentLog });
const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === "linux";

/** Starts a process that holds the directory; resolves once it is ready. */
async function holder(dataDir: string): Promise<ChildProcess> {
  const { child, said } = startHolder("embedded", dataDir);
  await said(/^/).toMatch(/^ready/);
  return child;
}

async function settingsOf(database: Database, names: readonly string[]) {
  const rows = await database.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name = any($1)",
    [names],
  );
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

async function expectWorks(dataDir: string): Promise<void> {
  const database = await open(dataDir);
  expect(await database.query("select 1 as one", [])).toEqual([{ one: 1 }]);
  await database.close();
}

it("the server syncs to disk, uses checksums, and orders text by code points", async () => {
  const dataDir = await preparedDataDir();
  const database = await open(dataDir);
  expect(
    await settingsOf(database, [
      "fsync",
      "full_page_writes",
      "synchronous_commit",
      "data_checksums",
      "listen_addresses",
      "server_encoding",
    ]),
  ).toEqual({
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
    data_checksums: "on",
    listen_addresses: "",
    server_encoding: "UTF8",
  });
  const [{ locale } = { locale: "" }] = await database.query<{ locale: string }>(
    "select datlocale as locale from pg_database where datname = current_database()",
    [],
  );
  expect(locale).toBe("C.UTF-8");
  await database.close();
});

it("an operator's custom.conf is kept, and read after ours", async () => {
  const dataDir = await preparedDataDir();
  writeFileSync(
    join(dataDir, "database/custom.conf"),
    "work_mem = 7MB\nport = 1\nrestart_after_crash = on\n",
  );
  const database = await open(dataDir);
  expect(await settingsOf(database, ["work_mem", "port", "restart_after_crash"])).toEqual({
    work_mem: "7168",
    // These two are the gateway's: it connects there, and starts a failed server again itself.
    port: "5432",
    restart_after_crash: "off",
  });
  await database.close();
  expect(readFileSync(join(dataDir, "database/custom.conf"), "utf8")).toContain("work_mem = 7MB");
});

it("a mistake in custom.conf is reported in the server's words, with the file and without a stack trace", async () => {
  const dataDir = await preparedDataDir();
  writeFileSync(join(dataDir, "database/custom.conf"), "shared_buffers = lots\n");
  const failure: unknown = await open(dataDir).catch((error: unknown) => error);
  const { text } = await explain(failure);
  expect(text).toContain('invalid value for parameter "shared_buffers": "lots"');
  expect(text).toContain(join(dataDir, "database/custom.conf"));
});

it.skipIf(!isLinux)("the server ends within two seconds of a killed gateway", async () => {
  const dataDir = await preparedDataDir();
  const child = await holder(dataDir);
  expect(serverProcesses(dataDir).length).toBeGreaterThan(3);
  child.kill("SIGKILL");
  await once(child, "exit");
  const gone = performance.now();
  await expect.poll(() => serverProcesses(dataDir), { interval: 20 }).toEqual([]);
  expect(performance.now() - gone).toBeLessThan(shortOrLong(patienceMs, 2_000));
  await expectWorks(dataDir);
});

it.skipIf(!isLinux)(
  "the server ends if its gateway is killed at the moment of starting it",
  async () => {
    const dataDir = await preparedDataDir();
    const program = new URL("./killed-at-spawn-child.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [program, dataDir], { stdio: "inherit" });
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
    // The server's process existed when its gateway was killed. It may end before it has written its file.
    await expect.poll(() => serverProcesses(dataDir), { interval: 20 }).toEqual([]);
    await expectWorks(dataDir);
  },
);

it.skipIf(!isLinux)("an orphaned server is stopped before the next server starts", async () => {
  const dataDir = await preparedDataDir();
  const child = await holder(dataDir);
  const server = serverPid(dataDir);
  // Without the shell that would end it, the server outlives its gateway.
  const watchers = execFileSync("ps", ["-eo", "pid=,ppid=,args="]).toString().split("\n");
  const watcher = watchers
    .map((line) => line.trim().split(/\s+/))
    .find(([, parent, program]) => Number(parent) === child.pid && program === "/bin/sh");
  process.kill(Number(watcher![0]), "SIGKILL");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(serverProcesses(dataDir)).toContain(server);
  const database = await open(dataDir);
  expect(serverPid(dataDir)).not.toBe(server);
  expect(serverProcesses(dataDir)).not.toContain(server);
  await database.close();
});

it("a stale postmaster.pid with the process id of another program does not prevent a start", async () => {
  const dataDir = await preparedDataDir();
  const lines = [
    String(process.pid),
    clusterOf(dataDir),
    "1795340000",
    "5432",
    "",
    "",
    "0 0",
    "ready",
  ];
  writeFileSync(join(clusterOf(dataDir), "postmaster.pid"), `${lines.join("\n")}\n`);
  await expectWorks(dataDir);
});

it("an unfinished initdb is started again", async () => {
  const dataDir = temporaryDirectory();
  mkdirSync(join(dataDir, "database/18.new/base"), { recursive: true });
  writeFileSync(join(dataDir, "database/18.new/PG_VERSION"), "18\n");
  await expectWorks(dataDir);
  expect(existsSync(join(dataDir, "database/18.new"))).toBe(false);
});

it("data of a newer PostgreSQL, an older one and the first embedded database is refused with an explanation", async () => {
  const dataDir = await preparedDataDir();
  renameSync(clusterOf(dataDir), join(dataDir, "database/19"));
  await expect(open(dataDir)).rejects.toThrow(/of PostgreSQL 19.*run the newer Tollgate again/);
  renameSync(join(dataDir, "database/19"), join(dataDir, "database/12"));
  await expect(open(dataDir)).rejects.toThrow(/of PostgreSQL 12.*tollgate backup/);
  rmSync(join(dataDir, "database"), { recursive: true });
  mkdirSync(join(dataDir, "database"));
  writeFileSync(join(dataDir, "database/PG_VERSION"), "18\n");
  await expect(open(dataDir)).rejects.toThrow(/earlier version of Tollgate/);
});

const olderMajor = [17, 16, 15, 14].find((major) =>
  existsSync(`/usr/lib/postgresql/${major}/bin/postgres`),
);

/** A data directory as a gateway with an older PostgreSQL left it. */
async function makeOlder(dataDir: string, major: number): Promise<void> {
  const directory = join(dataDir, "database");
  const identity = serverIdentity(directory);
  prepareDatabaseDirectory(directory, identity);
  const home = openDirectory(directory);
  const binaries = { directory: `/usr/lib/postgresql/${major}/bin`, major };
  const site: Site = { binaries, identity, home };
  createOwnedDirectory(join(directory, String(major)), identity);
  const at = pathForServer(site, String(major));
  const args = ["-D", at, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"];
  await runProgram(site, "initdb", args, 60_000);
  const server = await startServer({
    site,
    directory,
    cluster: String(major),
    listen: prepareSocket(site, directory, "socket").listen,
    log: silentLog,
  });
  const place = {
    host: join(directory, "socket"),
    port: 5432,
    user: "postgres",
    database: "postgres",
  };
  const database = connect({ server: place, log: silentLog });
  await migrate(database);
  await database.query(
    "insert into settings (name, value) values ('first', $1::jsonb), ('second', '9007199254740991')",
    [JSON.stringify({ text: "äöü \u2028 \\ '" })],
  );
  await database.close();
  await server.stop();
  home.close();
}

it.skipIf(!isLong || olderMajor === undefined || !isLinux)(
  "data of an older PostgreSQL is carried over by the next start, and kept until that succeeded",
  async () => {
    const dataDir = temporaryDirectory();
    const directory = join(dataDir, "database");
    await makeOlder(dataDir, olderMajor!);

    const failing = openDatabase({
      dataDir,
      carryOver: () => Promise.reject(new Error("the power failed")),
      log: silentLog,
    });
    await expect(failing).rejects.toThrow("the power failed");
    expect(existsSync(join(directory, "18"))).toBe(false);

    const database = await openDatabase({ dataDir, carryOver, log: silentLog });
    expect(await database.query("select name, value from settings order by name", [])).toEqual([
      { name: "first", value: { text: "äöü \u2028 \\ '" } },
      { name: "second", value: 9_007_199_254_740_991 },
    ]);
    expect(await database.query("show server_version_num", [])).toEqual([
      { server_version_num: expect.stringMatching(/^18/) as unknown },
    ]);
    await database.close();
    expect(existsSync(join(directory, `${olderMajor}.old`))).toBe(true);
    expect(existsSync(join(directory, String(olderMajor)))).toBe(false);
    await expectWorks(dataDir);
  },
);

it.skipIf(!isRoot)(
  "under root the server runs as another user, also on data that belongs to root after a restore",
  async () => {
    const dataDir = await preparedDataDir();
    await expectWorks(dataDir);
    const { uid } = statSync(clusterOf(dataDir));
    expect(uid).not.toBe(0);
    execFileSync("chown", ["-R", "0:0", join(dataDir, "database")]);
    await expectWorks(dataDir);
    expect(statSync(clusterOf(dataDir)).uid).toBe(uid);
    // Data of a user stays that user's.
    execFileSync("chown", ["-R", "12345:12345", join(dataDir, "database")]);
    await expectWorks(dataDir);
    expect(statSync(clusterOf(dataDir)).uid).toBe(12_345);
  },
);

it.skipIf(!isRoot)("a user without access to the data is told who owns it", async () => {
  const dataDir = await preparedDataDir();
  execFileSync("chown", ["-R", "12345:12345", dataDir]);
  chownSync(clusterOf(dataDir), 54_321, 54_321);
  const foreign = startHolder("embedded", dataDir, { uid: 12_345, gid: 12_345 });
  await foreign.said(/^/).toMatch(/belongs to user 54321, and this is user 12345/);
});

it.skipIf(!isLinux)(
  "a data directory with spaces and a path longer than a socket's name works",
  async () => {
    const home = temporaryDirectory();
    const dataDir = join(home, "a data directory ".repeat(7).trim(), "äöü");
    mkdirSync(dataDir, { recursive: true });
    const database = await open(dataDir);
    const joined = await openDatabase({ dataDir, join: true, log: silentLog });
    expect(await joined.query("select 1 as one", [])).toEqual([{ one: 1 }]);
    await joined.close();
    await database.close();
  },
);

it.skipIf(!canMount)(
  "on a temporarily full disk statements fail, and no acknowledged row is lost",
  async () => {
    const dataDir = temporaryDirectory();
    mountDisk(dataDir, 120);
    try {
      const database = await open(dataDir);
      await database.query("create table filled (n bigint primary key, filler text)");
      let kept = 0n;
      let failed: unknown;
      while (failed === undefined && kept < 100_000n) {
        try {
          await database.query(
            "insert into filled select $1::bigint, string_agg(md5(random()::text), '') from generate_series(1, 20000)",
            [kept],
          );
          kept += 1n;
        } catch (error) {
          failed = error;
        }
      }
      expect(String(failed)).toMatch(/No space left|terminat|shutting down|recovery|Connection/);
      execFileSync("mount", ["-o", "remount,size=400m", dataDir]);
      const count = () =>
        database.query<{ n: bigint }>("select count(*) as n from filled", []).catch(() => []);
      await expect.poll(async () => (await count())[0]?.n).toBeGreaterThanOrEqual(kept);
      await database.close();
    } finally {
      unmountDisk(dataDir);
    }
  },
);

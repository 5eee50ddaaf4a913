/**
 * A real PostgreSQL server for tests and the benchmark, started and stopped by the process that asks for it.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  accessSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { freemem, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, describe, onTestFinished } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { findBinaries } from "../../src/embedded/binaries.ts";
import { serverIdentity, type Identity } from "../../src/embedded/identity.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { largePages } from "./own-memory.ts";

/**
 * Removes the files of this process, however it dies (vitest ends its workers by a signal, and no `exit` handler runs). It is a
 * shell with a session of its own, which reads directories line by line. It acts when the pipe closes with this process. If a
 * directory has a server in it, the shell first stops that server by the process id in its `postmaster.pid`. Removing takes half
 * a minute on a slow machine, and no process waits for it. So scripts/run-vitest.mjs does not count it among what tests leave
 * behind.
 */
const janitorScript = `
  list=""
  while IFS= read -r line; do list="$list$line
"; done
  printf '%s' "$list" | while IFS= read -r directory; do
    pid=$(head -n 1 "$directory/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
  done
  sleep 1
  printf '%s' "$list" | while IFS= read -r directory; do rm -rf "$directory"; done`;
let janitor: Writable | undefined;

function removeAtEnd(directory: string): string {
  if (janitor === undefined && process.platform !== "win32") {
    const shell = spawn("sh", ["-c", janitorScript], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, TOLLGATE_TEST_TOTALS: undefined },
    });
    shell.unref();
    (shell.stdin as Socket).unref();
    janitor = shell.stdin;
  }
  janitor?.write(`${directory}\n`);
  return directory;
}

/** For tests that do not check the log. */
export { silentLog };

export interface TestPostgres {
  /** The server's `postgres` database. */
  readonly url: string;
  /** Makes a new, empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** The same with our schema, copied from a database that was migrated once. */
  createMigrated(): Promise<string>;
  /** A copy of a database without open connections, by its URL. */
  createCopy(url: string): Promise<string>;
  /** Restarts the server on the same port. Open connections are cut; "immediate" is a crash. */
  restart(how?: "fast" | "immediate"): Promise<void>;
  /**
   * Stops the server until `back` is called, or the test is over. Resolves when the last of the server's processes has ended: a
   * gateway may learn of the end of one connection while another still answers.
   */
  outage(how?: "fast" | "immediate"): Promise<{ back(): Promise<void> }>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

const signalOf = { fast: "SIGINT", immediate: "SIGQUIT" } as const;

export interface PostgresOptions {
  /** Off by default, because tests do not lose power. The benchmark turns it on. */
  readonly fsync?: boolean;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function ready(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`PostgreSQL did not start: ${output()}`, { cause: error });
      }
      await sleep(30);
    }
  }
}

async function begin(
  bin: string,
  dataDir: string,
  settings: readonly string[],
  identity: Identity | undefined,
): Promise<{ child: ChildProcess; output: () => string }> {
  const child = spawn(join(bin, "postgres"), ["-D", dataDir, ...settings], {
    cwd: dirname(dataDir),
    stdio: ["ignore", "ignore", "pipe"],
    ...identity,
  });
  let text = "";
  child.stderr.on("data", (bytes: Buffer) => (text = (text + bytes.toString()).slice(-4_000)));
  await once(child, "spawn");
  return { child, output: () => text };
}

/** The directory of a copy of the programs, if they cannot run from the packages. */
const programs = join(tmpdir(), "tollgate-test-programs");

/** The data of a new server, made once per machine and user. Making it takes a second of a processor, a copy a tenth. */
function clusterTemplate(bin: string, identity: Identity | undefined): string {
  // Other versions of the programs have another size; other users need another owner.
  const { size } = statSync(join(bin, "postgres"));
  const template = join(tmpdir(), `tollgate-test-cluster-${size}-${process.getuid?.() ?? 0}`);
  if (existsSync(template)) return template;
  const fresh = mkdtempSync(join(tmpdir(), "tollgate-test-cluster-new-"));
  if (identity !== undefined) chownSync(fresh, identity.uid, identity.gid);
  const initdbArguments = ["-D", fresh, "-U", "postgres", "-A", "trust", "-E", "UTF8"];
  execFileSync(join(bin, "initdb"), [...initdbArguments, "--locale=C", "--no-sync"], {
    cwd: fresh,
    stdio: ["ignore", "ignore", "pipe"],
    ...identity,
  });
  renameInPlace(fresh, template);
  return template;
}

/** The size of a worker's databases in a whole run, doubled for those of its gateways. */
const memoryBytesMin = 12e9;

/**
 * The parent directory of temporary servers: in memory, if there is plenty of it. A slow disk takes half a second for a new
 * database, memory a tenth.
 */
function placeOfServers(): string {
  const memory = "/dev/shm";
  if (process.platform !== "linux" || freemem() < memoryBytesMin) return tmpdir();
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize < memoryBytesMin ? tmpdir() : memory;
  } catch {
    return tmpdir();
  }
}

/** Starts a new server with the programs of the embedded database. */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const identity = serverIdentity("");
  const bin = findBinaries(programs, identity).directory;
  const place = options.fsync === true ? tmpdir() : placeOfServers();
  const root = removeAtEnd(mkdtempSync(join(place, "tollgate-pg-")));
  if (identity !== undefined) chownSync(root, identity.uid, identity.gid);
  const dataDir = join(root, "data");
  copyFolder(clusterTemplate(bin, identity), dataDir);
  const port = await freePort();
  const fsync = options.fsync === true ? "on" : "off";
  const socketDir = process.platform === "win32" ? "" : root;
  const settings = ["-p", String(port), "-h", "127.0.0.1", "-k", socketDir];
  // Fourteen hours ahead of UTC: code that relies on the server's time zone fails.
  settings.push("-c", "timezone=Pacific/Kiritimati");
  settings.push(
    "-c",
    `fsync=${fsync}`,
    "-c",
    `full_page_writes=${fsync}`,
    "-c",
    "max_connections=200",
  );
  // With a hundred databases an autovacuum worker would start twice a second, for tables that live for a minute.
  if (options.fsync !== true) settings.push("-c", "autovacuum=off");
  const base = `postgresql://postgres@127.0.0.1:${port}`;
  const url = `${base}/postgres`;

  let { child, output } = await begin(bin, dataDir, settings, identity);
  await ready(url, child, output);

  async function down(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  async function up(): Promise<void> {
    ({ child, output } = await begin(bin, dataDir, settings, identity));
    await ready(url, child, output);
  }

  const nameOf = (database: string): string => database.slice(database.lastIndexOf("/") + 1);
  let databases = 0;
  let migrated: Promise<string> | undefined;
  /** PostgreSQL copies a template for one caller at a time. */
  let copying: Promise<unknown> = Promise.resolve();
  function create(template: string): Promise<string> {
    databases += 1;
    const name = `test_${databases}`;
    const copied = copying.then(async () => {
      const client = new Client({ connectionString: url });
      await client.connect();
      // `file_copy` does not also write each page to the WAL.
      await client.query(`create database ${name} template ${template} strategy file_copy`);
      await client.end();
      return `${base}/${name}`;
    });
    copying = copied.catch(() => undefined);
    return copied;
  }
  return {
    url,
    createDatabase: () => create("template1"),
    async createMigrated() {
      migrated ??= create("template1").then(async (template) => {
        const database = await openDatabase({ url: template, log: silentLog });
        await migrate(database);
        await database.close();
        return nameOf(template);
      });
      return create(await migrated);
    },
    createCopy: (url) => create(nameOf(url)),
    async restart(how = "fast") {
      await down(signalOf[how]);
      await up();
    },
    async outage(how = "fast") {
      await down(signalOf[how]);
      let started: Promise<void> | undefined;
      const back = () => (started ??= up());
      onTestFinished(back);
      return { back };
    },
    async stop() {
      await down("SIGINT");
      rmSync(root, { recursive: true, force: true });
    },
  };
}

let shared: Promise<TestPostgres> | undefined;

/** Renames, unless another process was faster; its result is equally good. */
export function renameInPlace(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    rmSync(from, { recursive: true, force: true });
    if (!existsSync(to)) throw error;
  }
}

/** The shared server of this test process; it ends with the process. */
export function sharedPostgres(): Promise<TestPostgres> {
  return (shared ??= startPostgres());
}

/** A new temporary directory that is removed with the process. */
export function temporaryDirectory(): string {
  return removeAtEnd(mkdtempSync(join(tmpdir(), "tollgate-test-")));
}

/**
 * Copies about a thousand files. The system's `cp` takes a tenth of the time of Node, and a fifth of that if it does not allocate
 * its buffer again for each file.
 */
function copyFolder(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  const env = { ...process.env, ...largePages };
  try {
    execFileSync("cp", ["-a", from, to], { stdio: "ignore", env });
  } catch {
    cpSync(from, to, { recursive: true });
  }
}

/** The schema's version: a hash of the names and texts of the baseline and all migrations. */
function schemaMark(): string {
  const hash = createHash("sha256");
  for (const place of ["baseline", "migrations"]) {
    const folder = new URL(`../../src/storage/${place}/`, import.meta.url);
    for (const name of readdirSync(folder).sort())
      hash.update(name).update(readFileSync(new URL(name, folder)));
  }
  return hash.digest("hex").slice(0, 12);
}

/**
 * A data directory with the embedded database and its schema in place. It is copied from one made once per machine, which saves
 * each test the seconds of a first start. If `dataDir` is absent, a new directory is made.
 */
export async function preparedDataDir(dataDir = temporaryDirectory()): Promise<string> {
  const template = join(tmpdir(), `tollgate-test-place-${schemaMark()}-${process.getuid?.() ?? 0}`);
  if (!existsSync(template)) {
    const fresh = mkdtempSync(join(tmpdir(), "tollgate-test-place-new-"));
    const database = await openDatabase({ dataDir: fresh, log: silentLog });
    await migrate(database);
    // Our code creates no databases from these templates, and they are two thirds of the files to copy.
    await database.query("update pg_database set datistemplate = false");
    await database.query("drop database template0");
    await database.query("drop database template1");
    await database.close();
    renameInPlace(fresh, template);
  }
  copyFolder(join(template, "database"), join(dataDir, "database"));
  return dataDir;
}

/** A new database with the schema in place, closed after the suite. */
export type OpenForTest = () => Promise<Database>;

/** Runs `suite` on databases of the worker's PostgreSQL server. */
export function describeDatabase(name: string, suite: (open: OpenForTest) => void): void {
  describe.each([name])("%s", () => {
    const opened: Database[] = [];
    afterAll(async () => {
      await Promise.all(opened.map((database) => database.close()));
    });
    suite(async () => {
      const url = await (await sharedPostgres()).createMigrated();
      const database = await openDatabase({ url, log: silentLog });
      opened.push(database);
      return database;
    });
  });
}

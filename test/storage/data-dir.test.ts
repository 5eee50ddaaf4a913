/** The hold on a data directory: one process at a time, none for ever, and commands may join the holder. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { replaced } from "../../src/storage/baseline.ts";
import {
  DataDirectoryInUseError,
  knownMigrations,
  migrate,
  openDatabase,
} from "../../src/storage/index.ts";
import { preparedDataDir, sharedPostgres, silentLog } from "../support/postgres.ts";

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

function start(kind: "embedded" | "server", place: string) {
  const child = spawn(
    process.execPath,
    [new URL("./holder-child.ts", import.meta.url).pathname, kind, place],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  children.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const said = (text: RegExp) => expect.poll(() => lines.find((line) => text.test(line)));
  return { child, lines, said };
}

it("names the process that holds the directory and what to do; a killed holder holds nothing", async () => {
  const dataDir = await preparedDataDir();
  const holder = start("embedded", dataDir);
  await holder.said(/^ready/).toBeDefined();

  const refused = await openDatabase({ dataDir, log: silentLog }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DataDirectoryInUseError);
  expect((refused as DataDirectoryInUseError).pid).toBe(holder.child.pid);
  expect(String(refused)).toMatch(/Stop that process, or set TOLLGATE_DATA_DIR/);
  const second = start("embedded", dataDir);
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

it("a command joins the running process: it sees its rows, and its signals arrive there", async () => {
  const dataDir = await preparedDataDir();
  const holder = start("embedded", dataDir);
  await holder.said(/^ready/).toBeDefined();

  const joined = await openDatabase({ dataDir, join: true, log: silentLog });
  await joined.query("insert into settings (name, value) values ('from', '\"command\"')");
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
  const holder = start("embedded", dataDir);
  let joined = await openDatabase({ dataDir, join: true, log: silentLog });
  // Whoever was first has the directory; the other one got along.
  await joined.query("select 1");
  await joined.close();
  await holder.said(/^(ready|failed)/).toBeDefined();
  joined = await openDatabase({ dataDir, join: true, log: silentLog });
  await joined.query("select 1");
  await joined.close();
});

it("four processes that migrate one database together make one schema, and apply each migration once", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const starters = [1, 2, 3, 4].map(() => start("server", url));
  for (const starter of starters) await starter.said(/^ready/).toBeDefined();
  const applied = starters.map(({ lines }) => Number(lines[0]!.split(" ")[1]));
  const database = await openDatabase({ url, log: silentLog });
  const rows = await database.query<{ name: string }>(
    "select name from schema_migrations order by name",
    [],
  );
  expect(rows.map(({ name }) => name)).toEqual(knownMigrations().map(({ name }) => name));
  // The baseline is one for all that it stands for.
  const steps = 1 + rows.length - replaced.length;
  expect(applied.sort((a, b) => a - b)).toEqual([0, 0, 0, steps]);
  expect(await migrate(database)).toEqual({ applied: [] });
  await database.close();
});

/** What storage survives by itself: a server that restarts, an embedded engine that dies, a pool that idles meanwhile. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isTransient, migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { preparedDataDir, silentLog, startPostgres } from "../support/postgres.ts";

async function eventually(database: Database): Promise<void> {
  await expect
    .poll(() => database.query("select 1 as one", []).catch(() => undefined))
    .toEqual([{ one: 1 }]);
}

it("T73: while the server is away signals are not trusted, and handlers hear when they are back", async () => {
  const server = await startPostgres();
  const database = await openDatabase({ url: server.url, log: silentLog });
  await migrate(database);
  const got: string[] = [];
  let reconnects = 0;
  database.signals.onReconnect(() => (reconnects += 1));
  expect(database.signals.healthy()).toBe(false);
  database.signals.subscribe("keys", (payload) => got.push(payload));
  await expect.poll(() => database.signals.healthy()).toBe(true);
  expect(reconnects).toBe(1);

  const inside = database.transaction(async (tx) => {
    await tx.query("select 1");
    await server.restart("immediate", 300);
    await tx.query("select 1");
  });
  const failure = await inside.catch((error: unknown) => error);
  expect(isTransient(failure)).toBe(true);
  expect(reconnects === 2 || !database.signals.healthy()).toBe(true);

  await eventually(database);
  await expect.poll(() => reconnects).toBe(2);
  expect(database.signals.healthy()).toBe(true);
  await database.signals.publish("keys", "again");
  await expect.poll(() => got).toEqual(["again"]);
  await database.close();
  await server.stop();
});

it("a statement that fails for its own fault is not taken for an outage", async () => {
  const dataDir = await preparedDataDir();
  const database = await openDatabase({ dataDir, log: silentLog });
  const failure = await database.query("select 1 / 0", []).catch((error: unknown) => error);
  expect(isTransient(failure)).toBe(false);
  await database.close();
});

it("the embedded server is started again when it dies, on the same rows, and signals go on", async () => {
  const dataDir = await preparedDataDir();
  const said: unknown[] = [];
  const log = { ...silentLog, error: (_: object, message: string) => said.push(message) };
  const database = await openDatabase({ dataDir, log });
  await migrate(database);
  await database.query("insert into settings (name, value) values ('kept', '1')");
  let reconnects = 0;
  database.signals.onReconnect(() => (reconnects += 1));
  const got: string[] = [];
  database.signals.subscribe("keys", (payload) => got.push(payload));
  await expect.poll(() => reconnects).toBe(1);

  const [line = ""] = readFileSync(join(dataDir, "database/18/postmaster.pid"), "utf8").split("\n");
  const inside = database.transaction(async (tx) => {
    await tx.query("insert into settings (name, value) values ('lost', '1')");
    process.kill(Number(line), "SIGKILL");
    await expect.poll(() => said).toContain("the embedded database ended; it is started again");
    await tx.query("select 1");
  });
  expect(isTransient(await inside.catch((error: unknown) => error))).toBe(true);

  await eventually(database);
  expect(await database.query("select name from settings", [])).toEqual([{ name: "kept" }]);
  await expect.poll(() => reconnects).toBe(2);
  await database.signals.publish("keys", "again");
  await expect.poll(() => got).toEqual(["again"]);
  await database.close();
});

it.skipIf(process.platform === "win32")(
  "keeps the socket and the data directory to its owner",
  async () => {
    const dataDir = await preparedDataDir();
    const database = await openDatabase({ dataDir, log: silentLog });
    expect(statSync(dataDir).mode & 0o077).toBe(0);
    const { host } = JSON.parse(readFileSync(join(dataDir, "gateway.json"), "utf8")) as {
      host: string;
    };
    expect(statSync(host).mode & 0o077).toBe(0);
    await database.close();
  },
);

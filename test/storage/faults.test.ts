/** Failures that storage survives by itself: a server that restarts, a statement that fails. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";
import { isTransient, migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { preparedDataDir, sharedPostgres, silentLog, startPostgres } from "../support/postgres.ts";

async function eventually(database: Database): Promise<void> {
  await expect
    .poll(() => database.query("select 1 as one", []).catch(() => undefined))
    .toEqual([{ one: 1 }]);
}

it("T73: signals are not trusted while the server is away, and handlers are called when they are back", async () => {
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
    await server.restart("immediate");
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

it("a statement with an error of its own is not treated as an outage", async () => {
  const dataDir = await preparedDataDir();
  const database = await openDatabase({ dataDir, log: silentLog });
  const failure = await database.query("select 1 / 0", []).catch((error: unknown) => error);
  expect(isTransient(failure)).toBe(false);
  await database.close();
});

/** Blocks the process, so that data from the server waits in the socket. */
const blockProcess = (ms: number) =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

it("T67: an error of a connection that the server's own timeout ended counts as transient", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const database = await openDatabase({ url, log: silentLog, connectionsMax: 1 });
  await database.query("set idle_session_timeout = '20ms'");
  blockProcess(200);
  const idle = await database.query("select 1", []).catch((error: unknown) => error);
  const long = await database
    .transaction(async (tx) => {
      // Together: on a busy machine the time could be over before the second statement is sent.
      const set = tx.query("set local transaction_timeout = '20ms'");
      await Promise.all([set, tx.query("select pg_sleep(1)")]);
    })
    .catch((error: unknown) => error);
  expect([idle, long]).toMatchObject([{ code: "57P05" }, { code: "25P04" }]);
  expect([idle, long].map(isTransient)).toEqual([true, true]);
  await database.close();
});

it.each([
  ["Supavisor", "FATAL", "XX000", "max clients reached"],
  ["PgCat", "FATAL", "58000", "could not get connection from the pool"],
  ["Neon", "ERROR", "XX000", "Couldn't connect to compute node"],
])("T85: an error of the pooler %s counts as an outage", async (_name, severity, code, message) => {
  const fields = Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${message}\0\0`);
  const head = Buffer.from([0x45, 0, 0, 0, fields.length + 4]);
  const pooler = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.concat([head, fields])));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void pooler.close());
  await once(pooler, "listening");
  const { port } = pooler.address() as AddressInfo;
  const client = new Client({ host: "127.0.0.1", port, user: "u", database: "d" });
  client.on("error", () => undefined);
  const failure = await client.connect().catch((error: unknown) => error);
  expect(failure).toMatchObject({ severity, code, message });
  expect(isTransient(failure)).toBe(true);
});

it("an error of a statement is none of a pooler, even if its routine was cut off", () => {
  const duplicate = { severity: "ERROR", code: "23505" };
  expect(isTransient(Object.assign(new Error("duplicate key"), duplicate))).toBe(false);
});

it("a statement that was prepared before its table got a column works at the next try", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const database = await openDatabase({ url, log: silentLog, connectionsMax: 1 });
  onTestFinished(() => database.close());
  await database.query("create table grown (one integer); insert into grown values (1)");
  const read = () =>
    database.transaction((tx) =>
      tx.query("select * from grown where $1", [true], { name: "grown" }),
    );
  expect(await read()).toEqual([{ one: 1 }]);
  await database.query("alter table grown add two integer");
  const failure = await read().catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "0A000" });
  expect(isTransient(failure)).toBe(true);
  expect(await read()).toEqual([{ one: 1, two: null }]);
});

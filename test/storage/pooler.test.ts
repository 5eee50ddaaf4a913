/** Poolers between the gateway and its server: session mode works like no pooler, transaction mode is refused with a message. */
import { expect, it, onTestFinished } from "vitest";
import { migrate, openDatabase } from "../../src/storage/index.ts";
import { startPooler } from "../support/pooler.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";

async function pooled(mode: "session" | "transaction"): Promise<string> {
  const pooler = await startPooler(await (await sharedPostgres()).createDatabase(), mode);
  onTestFinished(() => pooler.close());
  return pooler.url;
}

it("behind a pooler in session mode, a database is migrated, delivers signals, and has its timeouts", async () => {
  const database = await openDatabase({ url: await pooled("session"), log: silentLog });
  await migrate(database);
  const got: string[] = [];
  database.signals.subscribe("keys", (payload) => got.push(payload));
  await expect.poll(() => database.signals.healthy()).toBe(true);
  await database.signals.publish("keys", "changed");
  await expect.poll(() => got).toEqual(["changed"]);
  const limits = await database.query(
    `select current_setting('statement_timeout') as statement,
       current_setting('idle_in_transaction_session_timeout') as idle`,
  );
  expect(limits).toEqual([{ statement: "30s", idle: "3s" }]);
  await database.close();
});

it("a pooler in transaction mode is refused at the start, with the fix", async () => {
  const opening = openDatabase({ url: await pooled("transaction"), log: silentLog });
  await expect(opening).rejects.toMatchObject({
    name: "DatabaseUnreachableError",
    problem: expect.stringContaining("a pooler in transaction mode is between") as string,
    fix: expect.stringContaining("name the server itself, or a pooler in session mode") as string,
  });
});

it("a server that allows only one connection can be opened", async () => {
  const postgres = await sharedPostgres();
  const operator = await openDatabase({ url: postgres.url, log: silentLog });
  onTestFinished(() => operator.close());
  const url = new URL(await postgres.createDatabase());
  const name = url.pathname.slice(1);
  await operator.query("drop role if exists one_connection");
  await operator.query("create role one_connection login connection limit 1");
  url.username = "one_connection";
  const database = await openDatabase({ url: url.href, log: silentLog });
  expect(await database.query("select current_database() as name")).toEqual([{ name }]);
  await database.close();
});

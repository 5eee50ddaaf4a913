/** The settings of each connection, which override those of the server, the database and the user. */
import { expect, it, onTestFinished } from "vitest";
import { migrate, openDatabase, type Queryable } from "../../src/storage/index.ts";
import { openConnections } from "../../src/storage/replica/connections.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";

const at = new Date("2026-11-02T10:00:00.123Z");

/** Settings of databases and users that our statements cannot work with. */
const foreignSettings = [
  "jit = on",
  "datestyle = 'SQL, DMY'",
  "standard_conforming_strings = off",
  "array_nulls = off",
  "default_transaction_isolation = serializable",
  "idle_session_timeout = '1min'",
  "transaction_timeout = '1min'",
];

/** A database with such settings, with the schema or empty. */
async function withOtherDefaults(how: "createMigrated" | "createDatabase"): Promise<string> {
  const url = await (await sharedPostgres())[how]();
  const database = await openDatabase({ url, log: silentLog });
  for (const setting of foreignSettings)
    await database.query(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
  await database.close();
  return url;
}

const readSession = (session: Queryable): Promise<object[]> =>
  session.query(
    `select current_setting('jit') as jit, $1::timestamptz as at, 'a\\d' as pattern, $2::text[] as texts,
       current_setting('default_transaction_isolation') as isolation,
       current_setting('idle_session_timeout') as idle, current_setting('transaction_timeout') as longest`,
    [at, ["a", null]],
  );

const session = {
  jit: "off",
  at,
  pattern: "a\\d",
  texts: ["a", null],
  isolation: "read committed",
  idle: "0",
  longest: "0",
};

it("a connection overrides settings of the database that its statements cannot work with", async () => {
  const url = await withOtherDefaults("createMigrated");
  const database = await openDatabase({ url, log: silentLog });
  onTestFinished(() => database.close());
  expect(await readSession(database)).toEqual([session]);
  const replica = openConnections(url, silentLog);
  onTestFinished(() => replica.close());
  expect(await replica.use(readSession)).toEqual([session]);
});

it("the schema can be created in a database with such settings", async () => {
  const url = await withOtherDefaults("createDatabase");
  const database = await openDatabase({ url, log: silentLog });
  onTestFinished(() => database.close());
  await migrate(database);
  expect(
    await database.query("select 1 as one from request_parts where high is null", []),
  ).not.toEqual([]);
  expect(
    await database.query("select 1 as one from request_parts where high > now()", []),
  ).not.toEqual([]);
});

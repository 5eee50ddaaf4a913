/** The settings of each connection, which override those of the server, the database and the user. */
import { expect, it, onTestFinished } from "vitest";
import { openDatabase, type Queryable } from "../../src/storage/index.ts";
import { openConnections } from "../../src/storage/replica/connections.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";

const at = new Date("2026-11-02T10:00:00.123Z");

/** A database whose owner has settings that our statements cannot work with. */
async function withOtherDefaults(): Promise<string> {
  const url = await (await sharedPostgres()).createMigrated();
  const database = await openDatabase({ url, log: silentLog });
  for (const setting of ["jit = on", "datestyle = 'SQL, DMY'"])
    await database.query(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
  await database.close();
  return url;
}

const readSession = (session: Queryable): Promise<object[]> =>
  session.query("select current_setting('jit') as jit, $1::timestamptz as at", [at]);

it("a connection turns JIT off and reads timestamps, even if the database has other defaults", async () => {
  const url = await withOtherDefaults();
  const database = await openDatabase({ url, log: silentLog });
  onTestFinished(() => database.close());
  expect(await readSession(database)).toEqual([{ jit: "off", at }]);
  const replica = openConnections(url, silentLog);
  onTestFinished(() => replica.close());
  expect(await replica.use(readSession)).toEqual([{ jit: "off", at }]);
});

/** Log lines about an unusable database: once with the reason and advice, and once when it is over. docs/database.md. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { watchDatabase } from "../../src/cli/database-watch.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { silentLog, startPostgres, type TestPostgres } from "../support/postgres.ts";

let postgres: TestPostgres;
let database: Database;
let checks = 0;
let lines: object[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  database = await openDatabase({ url: postgres.url, log: silentLog });
  await migrate(database);
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
});
beforeEach(() => {
  lines = [];
  checks = 0;
});

/** The real database; counts the checks. */
const counted = (): Database => ({
  ...database,
  query: (sql, params, options) => {
    checks += 1;
    return database.query(sql, params, options);
  },
});
const logLine = (fields: object, msg: string): void => void lines.push({ ...fields, msg });
const watch = (isOwn = false): (() => void) =>
  watchDatabase({
    database: counted(),
    log: { info: logLine, error: logLine },
    isOwn,
    everyMs: 10,
  });

async function severalChecks(): Promise<void> {
  const before = checks;
  await expect.poll(() => checks, { timeout: 10_000 }).toBeGreaterThan(before + 5);
}

const [away, back] = [
  "the database cannot be used: calls are refused until it can",
  "the database can be used again",
];

it.each([
  // While it stops, the server may still say so itself.
  [
    false,
    expect.stringMatching(
      /^(?:check host and port, and that the server runs$|wait: the server stops or starts)/,
    ) as string,
  ],
  [true, expect.stringContaining("database/server.log") as string],
])("an unreachable server is logged once, with advice (our own: %s)", async (isOwn, fix) => {
  const end = watch(isOwn);
  await severalChecks();
  expect(lines).toEqual([]);
  const outage = await postgres.outage("immediate");
  await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(1);
  await severalChecks();
  await outage.back();
  await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(2);
  await severalChecks();
  end();
  expect(lines).toMatchObject([{ msg: away, fix, seconds: 0 }, { msg: back }]);
});

it("for our own server with a full disk the advice is to free the disk, not to restart", async () => {
  const full = Object.assign(new Error("could not write init file"), { code: "53100" });
  const refusing: Database = { ...database, query: () => Promise.reject(full) };
  const log = { info: logLine, error: logLine };
  const end = watchDatabase({ database: refusing, log, isOwn: true, everyMs: 10 });
  await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(1);
  end();
  expect(lines).toMatchObject([{ msg: away, fix: "free its disk: it is full" }]);
});

it("a read-only server is logged too", async () => {
  const setting = async (sql: string): Promise<void> => {
    await database.query(sql);
    await database.query("select pg_reload_conf()");
  };
  const end = watch();
  await setting("alter system set default_transaction_read_only = on");
  await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(1);
  await setting("alter system reset default_transaction_read_only");
  await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(2);
  end();
  expect(lines).toMatchObject([{ msg: away, reason: "it is read-only" }, { msg: back }]);
});

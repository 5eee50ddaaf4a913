// A database that is slow but reachable: the metrics, and so the alert, do not report it as down. docs/monitoring.md.
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { gauges } from "../../src/cli/gauges.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";

let database: Database;
let delaySeconds = 0;
beforeAll(async () => {
  const url = await (await sharedPostgres()).createMigrated();
  const real = await openDatabase({ url, log: silentLog });
  database = {
    ...real,
    query: async (...asked) => {
      if (delaySeconds > 0) await real.query("select pg_sleep($1)", [delaySeconds]);
      return real.query(...asked);
    },
  };
});
afterAll(() => database.close());

it("tollgate_database_up is 1 with statements of half a second, and 0 if they take longer than /readyz waits", async () => {
  const read = gauges({
    database,
    replica: undefined,
    health: { circuits: () => [] },
    tracing: undefined,
    environment: { dataDir: temporaryDirectory() },
    files: { failure: undefined },
    ownTls: { expiresMs: () => undefined },
    clock: systemClock,
    sharedClock: systemClock,
  });
  const up = async (): Promise<number | undefined> =>
    (await read()).find(({ name }) => name === "tollgate_database_up")!.lines[0]![1];
  expect(await up()).toBe(1);
  delaySeconds = 0.5;
  const seen: (number | undefined)[] = [];
  const endMs = performance.now() + 3_500;
  // Longer than the last reading is valid.
  await eventually(async () => {
    seen.push(await up());
    return performance.now() > endMs || undefined;
  }, "some scrapes");
  expect(new Set(seen)).toEqual(new Set([1]));
  delaySeconds = 5;
  await eventually(async () => (await up()) === 0, "a database that is away");
  delaySeconds = 0;
  await eventually(async () => (await up()) === 1, "one that is back");
});

/** The number of workers, and each worker's share of the limits. */
import { expect, it } from "vitest";
import { defaultSettings } from "../../src/catalog/index.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { connectionsLeft, planWorkers, workersWanted } from "../../src/cli/workers/count.ts";
import { shareOf } from "../../src/cli/workers/share.ts";
import { silentLog } from "../../src/base/log.ts";
import { availableParallelism } from "node:os";
import { openDatabase } from "../../src/storage/index.ts";
import { eventually } from "../money/support.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { listenersOf, startWorkers, workersOf } from "./support.ts";

it("the default is one worker with the embedded database, and one per core with a database server", () => {
  const wanted = (variables: Record<string, string>) => workersWanted(readEnvironment(variables));
  const DATABASE_URL = "postgres://user@host/database";
  expect(wanted({})).toBe(1);
  expect(wanted({ DATABASE_URL })).toBe(availableParallelism());
  expect(wanted({ TOLLGATE_WORKERS: "3" })).toBe(3);
  expect(wanted({ DATABASE_URL, TOLLGATE_WORKERS: "1" })).toBe(1);
});

it("each worker has ten connections and a listener if there are enough, including one worker more during a reload", () => {
  expect(planWorkers(4, { max: 100, taken: 3 })).toEqual({
    count: 4,
    poolMax: 10,
    reduced: undefined,
  });
});

it("with fewer connections the pools shrink, then the number of workers, and the reason is given", () => {
  expect(planWorkers(8, { max: 100, taken: 3 })).toMatchObject({ count: 8, poolMax: 9 });
  expect(planWorkers(14, { max: 100, taken: 3 })).toMatchObject({ count: 14, poolMax: 5 });
  const { count, poolMax, reduced } = planWorkers(32, { max: 100, taken: 3 });
  expect({ count, poolMax }).toEqual({ count: 14, poolMax: 5 });
  expect(reduced).toMatch(/takes 100 connections .* 32 workers need max_connections of 207$/);
  expect(planWorkers(32, { max: 207, taken: 3 })).toMatchObject({ count: 32, reduced: undefined });
  expect(planWorkers(4, { max: 5, taken: 3 })).toMatchObject({ count: 1, poolMax: 5 });
});

it("the planned connections never exceed those of the database", () => {
  for (let max = 30; max <= 400; max += 7)
    for (const wanted of [2, 3, 8, 16, 64]) {
      const { count, poolMax } = planWorkers(wanted, { max, taken: 3 });
      // At least one worker always runs.
      const used = count === 1 ? 0 : (count + 1) * (poolMax + 1) + 3 + 6;
      expect(used).toBeLessThanOrEqual(max);
    }
});

it("connections and body bytes are divided among workers, and the largest body fits in each share", () => {
  const { limits } = defaultSettings;
  expect(shareOf(limits, 1)).toBe(limits);
  const two = shareOf(limits, 2);
  expect(two.connections.total).toBe(10_000);
  expect(two.bodiesUnderWayBytes).toBe(limits.bodiesUnderWayBytes / 2);
  expect(shareOf(limits, 64).bodiesUnderWayBytes).toBe(2 * limits.bodyBytes);
  const small = { ...limits, bodiesUnderWayBytes: limits.bodyBytes };
  expect(shareOf(small, 2).bodiesUnderWayBytes).toBe(limits.bodyBytes);
});

it("connections of other users count against the server's limit, and not against the user's or the database's", async () => {
  const url = new URL(await (await sharedPostgres()).createDatabase());
  const operator = await openDatabase({ url: url.href, log: silentLog });
  const name = url.pathname.slice(1);
  await operator.query(`create role "${name}" login password 'guest'`);
  const guestUrl = new URL(url);
  guestUrl.username = name;
  guestUrl.password = "guest";
  const guest = await openDatabase({ url: guestUrl.href, log: silentLog });
  const left = () => connectionsLeft(guest);
  const before = await left();
  const another = await openDatabase({ url: url.href, log: silentLog });
  await another.query("select 1");
  expect(await left()).toEqual({ max: before.max, taken: before.taken + 1 });
  await operator.query(`alter role "${name}" connection limit 20`);
  expect(await left()).toEqual({ max: 20, taken: 0 });
  await operator.query(`alter database "${name}" connection limit 5`);
  // The guest's own connection that asks is not among them.
  expect(await left()).toEqual({ max: 5, taken: 2 });
  await Promise.all([another, guest, operator].map((database) => database.close()));
});

it.skipIf(process.platform !== "linux")(
  "a database with few connections gets fewer workers, and the banner says why",
  { timeout: 400_000 },
  async () => {
    const url = await (await sharedPostgres()).createMigrated();
    const database = await openDatabase({ url, log: silentLog });
    const room = 6 + 3 * 6 + 4;
    await database.query(
      `alter database ${new URL(url).pathname.slice(1)} connection limit ${room}`,
    );
    await database.close();
    const gateway = await startWorkers({
      DATABASE_URL: url,
      TOLLGATE_DATA_DIR: temporaryDirectory(),
      TOLLGATE_WORKERS: "40",
    });
    try {
      expect(gateway.banner).toMatch(
        new RegExp(`Workers +[1-3]: the database takes ${room} connections .* 40 workers need`),
      );
      const [, count] = /Workers +(\d):/.exec(gateway.banner)!;
      const workers = workersOf(gateway.child.pid!);
      expect(workers).toHaveLength(Number(count));
      // Accepting one round on each listener takes as many new connections.
      const port = Number(new URL(gateway.url).port);
      expect(workers.map((pid) => listenersOf(pid, port))).toEqual(workers.map(() => 16));
    } finally {
      expect(await gateway.stop()).toBe(0);
    }
    await eventually(() => (workersOf(gateway.child.pid!).length === 0 ? true : undefined), "end");
  },
);

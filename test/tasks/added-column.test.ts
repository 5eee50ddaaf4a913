/** A later release adds a column to the tasks, while this release goes on. */
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { openDatabase } from "../../src/storage/index.ts";
import type { TaskServices } from "../../src/tasks/engine.ts";
import { claimDue } from "../../src/tasks/lease.ts";
import { insertRows } from "../../src/tasks/rows.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";

it("LL#14400: statements that were prepared before go on when a later release adds a column to the tasks", async () => {
  const url = await (await sharedPostgres()).createMigrated();
  const database = await openDatabase({ url, log: silentLog, connectionsMax: 1 });
  onTestFinished(() => database.close());
  const services = { database, clock: systemClock, timing: { leaseMs: 1_000 } };
  const useAll = async () => [
    await database.transaction((tx) => insertRows(tx, [])),
    await claimDue(services as TaskServices, [], { lane: "ask", takesAbandoned: false }),
  ];
  expect(await useAll()).toEqual([[], []]);
  await database.query("alter table tasks add later text");
  expect(await useAll()).toEqual([[], []]);
});

/**
 * A step of the sums reads the log from a bound that it has read before: an older row that is written in between waits.
 * docs/management.md.
 */
import { expect, it } from "vitest";
import { createRequestLog } from "../../src/request-log/index.ts";
import type { Database, Queryable } from "../../src/storage/index.ts";
import { foldStep } from "./fold-step.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";
import { Calls, type LogRow } from "./model.ts";

/** Runs `work` once, as soon as a step has read its bound. */
function onceBounded(database: Database, work: () => Promise<void>): Database {
  let isDone = false;
  const watched = (tx: Queryable): Queryable => ({
    async query(sql, params, options) {
      const rows = await tx.query(sql, params, options);
      if (!isDone && sql.includes("as low from")) {
        isDone = true;
        await work();
      }
      return rows as never;
    },
  });
  return {
    ...database,
    transaction: (within, options) => database.transaction((tx) => within(watched(tx)), options),
  };
}

describeDatabase("the bound of a fold step", (open) => {
  it("a free call of three days ago that is logged during a step is counted by the next step", async () => {
    const database = await open();
    await addWorkspace(database, "w1");
    await addKey(database, { workspaceId: "w1", id: "k1", createdBy: "m1" });
    const calls = new Calls(database, createRequestLog(database, silentLog));
    const free = (atMs: number): LogRow => ({
      id: calls.id(atMs),
      key: "k1",
      atMs,
      costNano: 0n,
      model: "m",
      provider: "p",
      status: "failed",
      errorCode: "task_expired",
      input: 0,
      tookMs: 1,
    });
    const nowMs = Date.now();
    await calls.log(free(nowMs));
    await foldStep(onceBounded(database, () => calls.log(free(nowMs - 3 * 86_400_000))));
    await foldStep(database);
    const sum =
      "select sum(requests)::integer as n from usage_days where dimension = 'total' and not of_member";
    expect(await database.query(sum, [])).toEqual([{ n: 2 }]);
    expect(await database.query("select id from usage_pending", [])).toEqual([]);
  });
});

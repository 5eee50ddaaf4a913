/**
 * A task may be charged hours or weeks after its id was made. Usage of every part of the hour of its charge has its model, or none where
 * the log is deleted, and nothing below zero. docs/management.md.
 */
import { beforeEach, expect, it } from "vitest";
import { hourMs, minuteMs } from "../../src/base/durations.ts";
import { idTime } from "../../src/base/ids.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { seesEverything } from "../../src/tenancy/index.ts";
import { foldUsage, readUsage } from "../../src/usage/index.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const hour = Math.floor(Date.now() / hourMs) * hourMs - 2 * hourMs;
const charged = [["a/video", 1, "0.000000005"]];

describeDatabase("usage of a task that was charged long after its submission", (open) => {
  let database: Database;
  beforeEach(async () => {
    database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k" });
    // The sums of every hour have every count (counts-since.test.ts).
    await database.query("update schema_migrations set applied_at = 'epoch'");
  });

  /** Submitted so many hours before the hour, and charged ten minutes after its begin. */
  async function task(hoursBefore: number): Promise<void> {
    const began = hour - hoursBefore * hourMs;
    const id = `task_${idTime(began)}0000000000000000`;
    const log = createRequestLog(database, silentLog);
    const row = { workspaceId: "w", id, createdAt: new Date(began), keyId: "k", model: "a/video" };
    log.add({ ...row, provider: "p", status: "succeeded", costNano: 5n });
    await log.flush();
    await database.query(
      `insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, created_at)
       values ('w', $1, 'charge', 5, 5, 0, 'k', $2)`,
      [id, new Date(hour + 10 * minuteMs)],
    );
  }

  /** By model, from and up to minutes of the hour. */
  async function costs(from: number, to: number) {
    const rows = (await readUsage(database, {
      visibility: seesEverything,
      granularity: "total",
      groupBy: "model",
      from: new Date(hour + from * minuteMs),
      to: new Date(hour + to * minuteMs),
    })) as { model: string | null; requests: number; cost: string }[];
    return rows.map(({ model, requests, cost }) => [model, requests, cost]);
  }

  it("has its model after weeks, before and after usage is summed", async () => {
    await task(25 * 24);
    for (const round of ["before", "after"]) {
      expect({ round, of: await costs(15, 90) }).toEqual({ round, of: [] });
      expect({ round, of: await costs(5, 90) }).toEqual({ round, of: charged });
      expect({ round, of: await costs(5, 15) }).toEqual({ round, of: charged });
      await foldUsage(database);
    }
  });

  it("is never below zero where the log begins after the submission and before the charge", async () => {
    await task(10);
    await foldUsage(database);
    await database.query("delete from requests");
    await database.query("insert into request_log_start (id_time) values ($1)", [
      idTime(hour - 3 * hourMs),
    ]);
    expect(await costs(0, 120)).toEqual(charged);
    expect(await costs(15, 90)).toEqual([]);
    expect(await costs(5, 90)).toEqual([[null, 1, "0.000000005"]]);
    expect(await costs(-90, 5)).toEqual([]);
    expect(await costs(-90, 45)).toEqual([[null, 1, "0.000000005"]]);
  });
});

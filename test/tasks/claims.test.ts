/** Two submissions claim one idempotency key after both have seen that it is free. TASK-10, TASK-45; T81. */
import { expect, it } from "vitest";
import { claimKeyForCall, claimKeys, keyLifetimeMs } from "../../src/tasks/idempotency.ts";
import type { Database } from "../../src/storage/index.ts";
import { describeDatabase } from "../support/postgres.ts";

const nowMs = Date.UTC(2026, 10, 3, 12);

describeDatabase("an idempotency key that two submissions claim", (open) => {
  const claimOf = (key: string, taskId: string, workspaceId = "w1") => ({
    workspaceId,
    key,
    fingerprint: `of ${taskId}`,
    taskId,
  });
  const rowsOf = (database: Database, key: string) =>
    database.query(
      "select workspace_id, task_id, call_id, fingerprint from idempotency_keys where key = $1 order by 1",
      [key],
    );

  it("T81: belongs to the task of the first claim for a day, in its workspace only", async () => {
    const database = await open();
    const claim = (taskId: string, atMs: number, workspaceId?: string) =>
      database.transaction((tx) => claimKeys(tx, [claimOf("k", taskId, workspaceId)], atMs));
    expect(await claim("t1", nowMs)).toEqual(["claimed"]);
    expect(await claim("t2", nowMs + keyLifetimeMs - 1)).toEqual(["taken"]);
    expect(await claim("t3", nowMs, "w2")).toEqual(["claimed"]);
    expect(await rowsOf(database, "k")).toMatchObject([{ task_id: "t1" }, { task_id: "t3" }]);
    expect(await claim("t4", nowMs + keyLifetimeMs)).toEqual(["claimed"]);
    expect(await rowsOf(database, "k")).toMatchObject([{ task_id: "t4" }, { task_id: "t3" }]);
  });

  it("T81: can be claimed again only by the same request, after a call that ended without an answer", async () => {
    const database = await open();
    const claim = (callId: string, fingerprint: string) =>
      database.transaction((tx) =>
        claimKeyForCall(tx, { workspaceId: "w1", claim: { key: "c", fingerprint } }, callId, nowMs),
      );
    await claim("call1", "of one request");
    await expect(claim("call2", "of another")).rejects.toMatchObject({
      code: "idempotency_in_progress",
    });
    expect(await rowsOf(database, "c")).toMatchObject([{ call_id: "call1" }]);
    await claim("call3", "of one request");
    expect(await rowsOf(database, "c")).toMatchObject([{ call_id: "call3" }]);
  });
});

/** A vendor gives two tasks the same job: the first task keeps it, the second fails unbilled, and the operator gets a log line. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { endTask, failed } from "../../src/tasks/end.ts";
import type { TaskServices } from "../../src/tasks/engine.ts";
import type { Job } from "../../src/tasks/rows.ts";
import { createLedger } from "../support/ledger.ts";
import { eventually } from "../support/patience.ts";
import { jobOf, rowOf, running, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";

const world = useWorld();
let faults: object[] = [];
beforeEach(() => void (faults = []));

function submitLogged(job: Job, other: Partial<TaskServices> = {}): Promise<void> {
  const log = { ...world.services.log, error: (fields: object) => void faults.push(fields) };
  return submitStep({ ...world.services, log, ...other }, job);
}

const balance = () => createLedger(world.database).balance("w1");

describe("a vendor that gives a new task the job id of another running task", () => {
  it("fails the new task without a charge, is logged, and the other task keeps its job", async () => {
    const first = await running(world, { upstream_id: "cgt-same" });
    const stranger = await running(world, { upstream_id: "cgt-same", provider: "two" });
    const before = await balance();
    world.vendor.plan("POST", says.taken("cgt-same"));
    const second = await jobOf(world, "acme/clip");
    await submitLogged(second);
    expect(faults).toEqual([
      {
        task: second.id,
        provider: "one",
        upstream_id: "cgt-same",
        others: [first.id],
        across_workspaces: false,
      },
    ]);
    expect(stranger.id).not.toBe(first.id);
    expect(await rowOf(world, first.id)).toMatchObject({ status: "running" });
    const row = await rowOf(world, second.id);
    expect(row).toMatchObject({
      status: "failed",
      upstreamId: null,
      costNano: 0n,
      error: { code: "submission_uncertain" },
    });
    // The error says nothing about the other task, which may belong to another workspace.
    expect(row.error?.message).not.toMatch(/another|cgt-same/);
    expect(await balance()).toEqual(before);
    expect(world.vendor.calls("DELETE")).toEqual([]);
  });

  it("two concurrent tasks: only one gets the job", async () => {
    world.vendor.plan("POST", says.taken("cgt-both"));
    const jobs = [await jobOf(world, "acme/clip"), await jobOf(world, "acme/clip")];
    const { database } = world;
    const checked = Promise.withResolvers<void>();
    const resumed = Promise.withResolvers<void>();
    // The first one pauses between its check and its write.
    const slow: Database = {
      ...database,
      transaction: (work, options) =>
        database.transaction(async (tx) => {
          const query = async (...asked: Parameters<typeof tx.query>) => {
            const rows = await tx.query(...asked);
            if (!asked[0].includes("due_at is not null and upstream_id")) return rows;
            checked.resolve();
            await resumed.promise;
            return rows;
          };
          return work({ ...tx, query: query as typeof tx.query });
        }, options),
    };
    const first = submitLogged(jobs[0]!, { database: slow });
    await checked.promise;
    const second = submitLogged(jobs[1]!);
    await eventually(async () => {
      const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
      return (await database.query(waiting)).length > 0;
    }, "the second one waits for its turn");
    resumed.resolve();
    await Promise.all([first, second]);
    expect(await rowOf(world, jobs[0]!.id)).toMatchObject({ status: "running" });
    expect(await rowOf(world, jobs[1]!.id)).toMatchObject({ status: "failed" });
    expect(faults).toHaveLength(1);
  });

  it("may use the id again once the other task has ended", async () => {
    const first = await running(world, { upstream_id: "cgt-again" });
    await endTask(world.services, first, failed({ code: "upstream_error", message: "no" }));
    world.vendor.plan("POST", says.taken("cgt-again"));
    const second = await jobOf(world, "acme/clip");
    await submitLogged(second);
    expect(await rowOf(world, second.id)).toMatchObject({
      status: "running",
      upstreamId: "cgt-again",
    });
    expect(faults).toEqual([]);
  });

  it("T82: is not asked to cancel that job for a task that was given up meanwhile", async () => {
    const first = await running(world, { upstream_id: "cgt-given-up" });
    world.vendor.plan("POST", says.taken("cgt-given-up"));
    const second = await jobOf(world, "acme/clip");
    const given = failed({ code: "submission_uncertain", message: "given up" });
    await submitLogged(second, {
      at: async (point) => {
        if (point === "ask.answered")
          await endTask(world.services, await rowOf(world, second.id), given);
      },
    });
    expect(world.vendor.calls("DELETE")).toEqual([]);
    expect(await rowOf(world, first.id)).toMatchObject({ status: "running" });
    expect(faults).toMatchObject([{ task: second.id, others: [first.id] }]);
  });
});

/** The end of a task: what it keeps, what it tells the request log, and that it is undone if the money of the task is gone. */
import { describe, expect, it } from "vitest";
import type { VideoModel } from "../../src/catalog/index.ts";
import { settleIn } from "../../src/ledger/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { endTask, failed, type TaskEnd } from "../../src/tasks/end.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import type { Job } from "../../src/tasks/rows.ts";
import { clock, dollar, rowOf, running, useWorld } from "./steps-support.ts";

const world = useWorld();

const succeeded = (): TaskEnd => ({
  status: "succeeded",
  usage: { unit: "video_tokens", tokens: 7 },
  isReported: false,
  costNano: dollar,
  price: (world.catalog.models.get("acme/clip") as VideoModel).offers[0]!.price,
  artifacts: [],
});
const filesOf = ({ id }: Job) =>
  world.database.query<{ expires_at: Date }>("select expires_at from files where task_id = $1", [
    id,
  ]);

describe("the end of a task", () => {
  it("happens once: a second one changes nothing", async () => {
    const job = await running(world);
    expect(await endTask(world.services, job, succeeded())).toBe(true);
    expect(await endTask(world.services, job, succeeded())).toBe(false);
    expect(await endTask(world.services, job, failed({ code: "x", message: "No." }))).toBe(false);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "succeeded", costNano: dollar });
    const price = { basis: "video_tokens" };
    expect(world.requestRows).toMatchObject([{ id: job.id, usageSource: "estimated", price }]);
  });

  it("has the task's tags, end user and changed parameters in the request log, each parameter once", async () => {
    const job = await running(world, {
      tags: JSON.stringify({ team: "a" }),
      end_user: "u",
      notes: JSON.stringify(["seed: dropped", "seed: dropped again", "n: 1"]),
    });
    await endTask(world.services, job, succeeded());
    expect(world.requestRows).toMatchObject([
      { tags: { team: "a" }, endUser: "u", dropped: ["seed", "n"], durationMs: 0 },
    ]);
    const plain = await running(world);
    await endTask(world.services, plain, succeeded());
    expect(world.requestRows[1]).toMatchObject({ tags: undefined, endUser: undefined });
  });

  it("has the attempts in the request log without the hashes of their keys", async () => {
    const attempt = { provider: "one", credential: "default", outcome: "answered" };
    const attempts = JSON.stringify([{ ...attempt, key_hash: "h" }]);
    await endTask(world.services, await running(world, { attempts }), succeeded());
    expect(world.requestRows).toMatchObject([{ provider: "one", attempts: [attempt] }]);
    expect(JSON.stringify(world.requestRows[0]!.attempts)).not.toContain("key_hash");
  });

  it("T80: is not this one if the connection was lost and another end came first", async () => {
    const job = await running(world);
    let tries = 0;
    const database: Database = {
      ...world.database,
      async transaction(work, options) {
        tries += 1;
        if (tries > 1) return world.database.transaction(work, options);
        await endTask(world.services, job, failed({ code: "x", message: "No." }));
        throw new Error("Connection terminated unexpectedly");
      },
    };
    expect(await endTask({ ...world.services, database }, job, succeeded())).toBe(false);
    expect(tries).toBe(2);
    expect(world.requestRows).toMatchObject([{ status: "failed", costNano: 0n }]);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "failed", costNano: 0n });
  });

  it("STORE-01: keeps its result for the time of retention from now on", async () => {
    world.vendor.plan("GET", world.vendor.done);
    const job = await running(world);
    await pollStep(world.services, job);
    expect(await filesOf(job)).toEqual([
      { expires_at: new Date(clock.now() + world.services.retentionMs) },
    ]);
  });

  it("T79: is undone if the task's money is gone, and the task goes on", async () => {
    const job = await running(world);
    await settleIn(world.database, job, null);
    await expect(endTask(world.services, job, succeeded())).rejects.toThrow(
      "a task's hold is gone: void",
    );
    expect(await rowOf(world, job.id)).toMatchObject({ status: "running", costNano: 0n });
    const charged = await running(world);
    await settleIn(world.database, charged, 5n);
    await expect(endTask(world.services, charged, succeeded())).rejects.toThrow(
      "a task's hold is gone: charge",
    );
    // A failed task needs no money.
    expect(await endTask(world.services, job, failed({ code: "x", message: "No." }))).toBe(true);
  });
});

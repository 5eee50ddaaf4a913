// Limits on tasks in flight. Requirements: ERR (503); docs/decisions.md "Queue limits"; TASK-15, LIM-18.
import { afterEach, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  says,
  saysTakenAnew,
  startArkVendor,
  type ArkVendor,
} from "./support.ts";

const clip = { model: "acme/clip", prompt: "A boat", duration: 1 };
let vendor: ArkVendor;
let bench: Bench;
afterEach(async () => {
  await bench?.close();
  await vendor?.close();
});

async function start(limits: string): Promise<void> {
  vendor = await startArkVendor();
  vendor.plan("GET", says.running);
  bench = await startBench({
    config: configurationOf([oneKey("ark", vendor)], [clipModel("acme/clip", ["ark"])]) + limits,
    tasks: { timing: { firstPollMs: 20, sweepMs: 50 } },
  });
  await bench.credit("100000");
  const [other] = await bench.database.query<{ id: string }>(
    "select id from workspaces where id <> $1",
    [bench.workspaceId],
  );
  await bench.ledger.credit({
    workspaceId: other!.id,
    amountNano: 100_000_000_000_000n,
    reference: "more",
  });
}

const post = async (key = bench.key) => {
  const answer = await bench.send("POST", "/v1/tasks", { body: clip, key });
  const { error, id } = (await answer.json()) as { id?: string; error?: { code: string } };
  return { status: answer.status, code: error?.code, id, after: answer.headers.get("retry-after") };
};
const full = { status: 503, code: "queue_full", id: undefined, after: "10" };

describe("the limit on queued tasks", () => {
  it("TASK-15 LIM-18: per workspace refuses with 503 and Retry-After until a task ends, and only in that workspace", async () => {
    await start("limits: { queue: { global: 10, per_workspace: 2 } }\n");
    const before = await bench.available();
    const { id } = await post();
    expect((await post()).status).toBe(200);
    const held = before - (await bench.available());
    expect(await post()).toEqual(full);
    expect(before - (await bench.available())).toBe(held);
    // Other workspaces are not affected.
    expect((await post(bench.otherKey)).status).toBe(200);
    await bench.until(id!, "running");
    expect(await post()).toEqual(full);
    expect((await bench.send("POST", `/v1/tasks/${id}/cancel`)).status).toBe(200);
    expect((await post()).status).toBe(200);
  });

  it("LIM-18: over all workspaces refuses with 503", async () => {
    await start("limits: { queue: { global: 3, per_workspace: 2 } }\n");
    const statuses = [];
    for (const key of [bench.key, bench.otherKey, bench.key, bench.otherKey])
      statuses.push((await post(key)).status);
    expect(statuses).toEqual([200, 200, 200, 503]);
    expect(vendor.calls("POST").length).toBeLessThanOrEqual(3);
  });

  it("LIM-18: is 100 tasks per workspace by default", async () => {
    await start("");
    const answers = await Promise.all(Array.from({ length: 120 }, () => post()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(20);
    expect((await post(bench.otherKey)).status).toBe(200);
  });
});

describe("a busy provider", () => {
  it("T81 LIM-18: a task waits for it for limits.task_retry_s, stays queued and in the queue limit, and is charged once", async () => {
    await start("limits: { queue: { per_workspace: 1 }, task_retry_s: 60 }\n");
    vendor.plan("POST", ...Array.from({ length: 3 }, () => says.throttled("1")), saysTakenAnew());
    vendor.plan("GET", vendor.done);
    const before = await bench.available();
    const { id } = await post();
    // With the third answer three seconds have passed: without `task_retry_s` the task would have failed.
    await expect.poll(() => vendor.calls("POST").length, { timeout: 20_000 }).toBe(3);
    expect(await post()).toEqual(full);
    const task = await bench.until(id!, "succeeded");
    expect(vendor.calls("POST")).toHaveLength(4);
    expect(task.cost).not.toBe("0");
    expect(before - (await bench.available())).toBe(parseUsd(task.cost));
  });
});

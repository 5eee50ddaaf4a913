// Clock jumps, deadlines that pass while no gateway runs, and results that were not polled yet. No step runs twice, and no existing
// result is lost. docs/tasks.md.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { sweepKeys } from "../../src/tasks/idempotency.ts";
import { ledgerReaderOf, eventually, type LedgerReader } from "../money/support.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  says,
  startArkVendor,
  type ArkVendor,
} from "./support.ts";

let aheadMs = 0;
const clock: Clock = { now: () => Date.now() + aheadMs };
const hourMs = 3_600_000;
let vendor: ArkVendor;
let bench: Bench;
let books: LedgerReader;
const clip = { model: "acme/clip", prompt: "A boat", duration: 2 };
beforeAll(async () => {
  vendor = await startArkVendor();
  bench = await startBench({
    config: configurationOf([oneKey("ark", vendor)], [clipModel("acme/clip", ["ark"])]),
    clock,
    tasks: { timing: { firstPollMs: 20, sweepMs: 50, questionMs: 300, mendMs: 100 } },
  });
  await bench.credit("1000");
  books = ledgerReaderOf(bench.database);
});
beforeEach(() => {
  aheadMs = 0;
  vendor.reset();
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});

const set = (id: string, change: string) =>
  bench.database.query(`update tasks set ${change} where id = $1`, [id]);
const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

describe("a clock that jumps", () => {
  it("forward by more than a lease: a running step is not repeated or taken as abandoned", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    vendor.plan("POST", (response, request) => {
      void held.then(() => says.taken("job-1")(response, request));
    });
    const { id } = await bench.create(clip);
    await eventually(() => vendor.calls("POST")[0], "the submission");
    aheadMs = hourMs;
    await pause(300);
    expect((await bench.read(id)).status).toBe("queued");
    aheadMs = 0;
    release();
    expect((await bench.until(id, "succeeded", "failed")).status).toBe("succeeded");
    expect(vendor.calls("POST")).toHaveLength(1);
    await books.expectClean();
  });

  it("back by a day: running tasks are polled as before, and tasks of a dead process are taken over", async () => {
    aheadMs = 24 * hourMs;
    vendor.plan("GET", says.running);
    const [one, other] = [await bench.create(clip), await bench.create(clip)];
    await bench.until(one.id, "running");
    await bench.until(other.id, "running");
    await set(other.id, "lease_token = 'of the dead', lease_until = due_at + interval '1 minute'");
    aheadMs = 0;
    vendor.plan("GET", vendor.done);
    expect((await bench.until(one.id, "succeeded")).status).toBe("succeeded");
    // The next search for due tasks cuts the lease to the longest time that a living process would set.
    await eventually(async () => {
      const [row] = await bench.database.query<{ lease_until: Date }>(
        "select lease_until from tasks where id = $1",
        [other.id],
      );
      return row!.lease_until.getTime() < Date.now() + 61_000 ? true : undefined;
    }, "a lease that is cut");
    await set(other.id, "lease_until = now()");
    await bench.until(other.id, "succeeded");
  });
});

describe("a deadline that passed while no gateway ran", () => {
  it("T80: a vendor that is done is polled once more: the task succeeds, and is charged once", async () => {
    vendor.plan("GET", says.running);
    const { id } = await bench.create(clip);
    await bench.until(id, "running");
    vendor.plan("GET", vendor.done);
    await set(id, "expires_at = now() - interval '1 hour', due_at = now()");
    expect(await bench.until(id, "succeeded", "expired")).toMatchObject({
      status: "succeeded",
      cost: "1",
    });
    const charges = (await books.charges()).filter(({ reference }) => reference === id);
    expect(charges).toHaveLength(1);
  });

  it.each([
    ["is not done", says.running],
    ["does not answer", says.nothing],
    ["does not know the job", says.refused(404)],
  ])("a vendor that %s leaves the task expired, without a charge", async (_how, reply) => {
    vendor.plan("GET", says.running);
    const { id } = await bench.create(clip);
    await bench.until(id, "running");
    vendor.plan("GET", reply);
    await set(id, "expires_at = now() - interval '1 hour', due_at = now()");
    expect(await bench.until(id, "succeeded", "expired")).toMatchObject({
      status: "expired",
      cost: "0",
    });
    await books.expectClean();
  });

  it("a result that cannot be stored leaves the task expired too", async () => {
    const files = join(bench.directory, "data", "files");
    vendor.plan("GET", says.running);
    const { id } = await bench.create(clip);
    await bench.until(id, "running");
    rmSync(files, { recursive: true });
    writeFileSync(files, "no directory");
    vendor.plan("GET", vendor.done);
    await set(id, "expires_at = now() - interval '1 hour', due_at = now()");
    expect((await bench.until(id, "succeeded", "expired")).status).toBe("expired");
    rmSync(files);
  });
});

it("T82: a cancellation polls first, so a vendor that is done is not asked to cancel", async () => {
  vendor.plan("GET", says.running);
  const { id } = await bench.create(clip);
  await bench.until(id, "running");
  await set(id, "due_at = now() + interval '1 minute'");
  vendor.plan("GET", vendor.done);
  const refused = await bench.send("POST", `/v1/tasks/${id}/cancel`);
  expect(refused.status).toBe(409);
  expect(vendor.calls("DELETE")).toEqual([]);
});

it("all idempotency keys older than a day are removed, in several batches", async () => {
  await bench.database.query(
    `insert into idempotency_keys (workspace_id, key, fingerprint, task_id, created_at)
     select $1, 'key ' || i, 'f', 'task_' || i, now() - case when i <= 2500 then interval '25 hours' else interval '23 hours' end
     from generate_series(1, 2600) i`,
    [bench.workspaceId],
  );
  expect(await sweepKeys(bench.database, clock.now())).toBe(2500);
});

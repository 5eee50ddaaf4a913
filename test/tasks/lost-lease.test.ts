/**
 * A gateway is stopped, cut off from the database or overtaken around a request to a vendor. It sends only with a valid lease,
 * stores the vendor's answer, and reports an unknown outcome. docs/tasks.md; T79, T81, T83.
 */
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { settleIn } from "../../src/ledger/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { cancelTask } from "../../src/tasks/cancel.ts";
import { endTask } from "../../src/tasks/end.ts";
import { defaultTiming, type TaskServices } from "../../src/tasks/engine.ts";
import { claimDue, findDue } from "../../src/tasks/lease.ts";
import { DatabaseContact, newLocalLease } from "../../src/tasks/local-lease.ts";
import { ask, createPools } from "../../src/upstream/index.ts";
import { silentLog } from "../support/postgres.ts";
import { json, startRecorder } from "../support/recorder.ts";
import { clock, jobOf, rowOf, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";
import { pixel } from "../support/pixel.ts";

const world = useWorld();
beforeEach(() => world.vendor.plan("POST", says.taken("job-1")));
afterEach(() => void vi.restoreAllMocks());

const realNow = performance.now.bind(performance);
/** The monotonic clock jumps, as if the process was stopped for this time. */
function stopFor(ms: number): void {
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + ms);
}

const realDate = Date.now.bind(Date);
/** The wall clock jumps, as if the machine was suspended for this time: the monotonic clock stood still. */
function suspendFor(ms: number): void {
  vi.spyOn(Date, "now").mockImplementation(() => realDate() + ms);
}

const servicesWith = (at: TaskServices["at"]): TaskServices => ({ ...world.services, at });

it("T80: a task whose hold was already ended is not ended as if it were charged", async () => {
  const job = await jobOf(world, "acme/clip");
  await settleIn(world.database, job, null);
  const usage = { unit: "video_tokens", tokens: 1 } as const;
  const ending = {
    status: "succeeded",
    usage,
    isReported: true,
    costNano: 5n,
    price: { basis: "video_tokens", outputVideoToken: 5_000_000n },
    artifacts: [],
  } as const;
  await expect(endTask(world.services, job, ending)).rejects.toThrow("hold is gone: void");
  expect(await rowOf(world, job.id)).toMatchObject({ status: "queued" });
});

describe("a request that was not sent yet", () => {
  it.each([
    ["its process was stopped", stopFor],
    ["its machine was suspended", suspendFor],
  ])("T81: is not sent after its lease has ended because %s", async (_why, jump) => {
    const job = await jobOf(world, "acme/clip");
    const held = { ...job, localLease: newLocalLease(defaultTiming.leaseMs) };
    const services = servicesWith((point) => {
      if (point === "ask.intended") jump(defaultTiming.leaseMs);
    });
    await submitStep(services, held);
    expect(world.vendor.calls("POST")).toEqual([]);
    // The task is unchanged, as if it was never submitted.
    expect(await rowOf(world, job.id)).toMatchObject({
      status: "queued",
      asking: false,
      attempt: 0,
      attempts: [],
    });
    expect(world.dueInMs).toEqual([defaultTiming.shortageMs]);
  });

  it("T81: is not sent by a process that never claimed the task", async () => {
    const { localLease: _right, ...job } = await jobOf(world, "acme/clip");
    await submitStep(world.services, job);
    expect(world.vendor.calls("POST")).toEqual([]);
  });

  it("T82: is not sent if its task was canceled before the intent was stored", async () => {
    const job = await jobOf(world, "acme/clip");
    const services = servicesWith(async (point) => {
      if (point === "ask.claimed") await cancelTask(world.services, "w1", job.id);
    });
    await submitStep(services, job);
    expect(world.vendor.calls("POST")).toEqual([]);
    expect((await rowOf(world, job.id)).status).toBe("canceled");
  });

  it("T81: is aborted in the middle of a streamed body when the lease ends, and counts as not sent", async () => {
    let received = 0;
    const vendor = await startRecorder((_request, response) => {
      received += 1;
      response.end('{"id":"job-1"}');
    });
    const pools = createPools();
    const provider = { ...world.catalog.providers.get("one")!, baseUrl: vendor.url };
    let isAllowed = true;
    const body = {
      contentLength: 20,
      open: () =>
        Readable.from(
          (async function* () {
            yield Buffer.alloc(10);
            await new Promise((resume) => setImmediate(resume));
            isAllowed = false;
            yield Buffer.alloc(10);
          })(),
          { objectMode: false, highWaterMark: 1 },
        ),
    };
    try {
      const asked = ask(
        pools.forMedia(vendor.url, 5_000, provider),
        provider,
        { method: "POST", path: "/x", headers: {}, body },
        { maySend: () => isAllowed },
      );
      await expect(asked).rejects.toMatchObject({ failure: "aborted", sent: false });
      expect(received).toBe(0);
    } finally {
      await pools.close();
      await vendor.close();
    }
  });
});

describe("a request that was sent", () => {
  const findAsked = (takesAbandoned: boolean) =>
    findDue(world.services, {
      lane: "ask",
      limit: 500,
      fullWorkspaces: [],
      passedOver: [],
      underWay: [],
      takesAbandoned,
    });

  it("T81: counts as abandoned only long after its lease, and only while the database answers steadily", async () => {
    const leaseEnd = clock.now();
    const job = await jobOf(world, "acme/clip", {
      asking: true,
      due_at: new Date(leaseEnd),
      lease_until: new Date(leaseEnd),
    });
    const isFound = async (takesAbandoned: boolean) =>
      (await findAsked(takesAbandoned)).some(({ id }) => id === job.id);
    const claimed = async () =>
      (await claimDue(world.services, [job], { lane: "ask", takesAbandoned: true })).map(
        ({ id }) => id,
      );
    clock.advance(defaultTiming.abandonMs - 1);
    expect([await isFound(true), await claimed()]).toEqual([false, []]);
    clock.advance(1);
    expect([await isFound(false), await isFound(true)]).toEqual([false, true]);
    expect(await claimed()).toEqual([job.id]);
    clock.advance(-defaultTiming.abandonMs);
  });

  it("T79: a claimed task cannot be claimed again until its lease ends", async () => {
    const job = await jobOf(world, "acme/clip", { due_at: new Date(clock.now()) });
    const claimed = async () =>
      (await claimDue(world.services, [job], { lane: "ask", takesAbandoned: true })).length;
    expect([await claimed(), await claimed()]).toEqual([1, 0]);
    clock.advance(defaultTiming.leaseMs - 1);
    expect(await claimed()).toBe(0);
    clock.advance(1);
    expect(await claimed()).toBe(1);
    clock.advance(-defaultTiming.leaseMs);
  });

  it("database contact counts as stable only after a whole lease without failures or slow queries", () => {
    let nowMs = 0;
    vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    const contact = new DatabaseContact(60_000);
    const answersUntil = (endMs: number) => {
      for (; nowMs <= endMs; nowMs += 1_000) contact.answered();
    };
    answersUntil(59_000);
    expect(contact.isStable()).toBe(false);
    answersUntil(60_000);
    expect(contact.isStable()).toBe(true);
    contact.failed();
    expect(contact.isStable()).toBe(false);
    answersUntil(100_000);
    expect(contact.isStable()).toBe(false);
    answersUntil(122_000);
    expect(contact.isStable()).toBe(true);
    // A query that took half a minute does not count as steady either.
    nowMs += 31_000;
    contact.answered();
    expect(contact.isStable()).toBe(false);
  });

  /** A database that fails the first `failures` writes after the vendor's answer; each failure takes 20 s. */
  function withDatabaseAwayAfterAnswer(failures: number) {
    let left = 0;
    const fail = () => {
      left -= 1;
      stopFor(20_000 * (failures - left));
      return Promise.reject(new Error("Connection terminated unexpectedly"));
    };
    const database: Database = {
      ...world.database,
      query: (sql, values, options) =>
        left > 0 ? fail() : world.database.query(sql, values, options),
      transaction: (work, options) =>
        left > 0 ? fail() : world.database.transaction(work, options),
    };
    const at: TaskServices["at"] = (point) => {
      if (point === "ask.answered") left = failures;
    };
    return { ...world.services, database, at };
  }

  it("T81 T83: the vendor's answer is stored once the database is back, even after minutes", async () => {
    const job = await jobOf(world, "acme/clip");
    await submitStep(withDatabaseAwayAfterAnswer(5), job);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "running", upstreamId: "job-1" });
    expect(world.vendor.calls("POST")).toHaveLength(1);
  });

  /** A task of a vendor that answers the submission with the finished picture. */
  function pictureJob() {
    world.painter.answer(json({ data: [{ b64_json: pixel }] }));
    const request = { kind: "image", family: "task-image-1", prompt: "A boat", n: 1, images: [] };
    const sized = { ...request, imageSize: "1K", quality: "low" };
    return jobOf(world, "acme/pictures", { request: JSON.stringify(sized) });
  }

  it("T83: a picture in the vendor's answer is stored and charged once the database is back", async () => {
    const job = await pictureJob();
    // More failures than one attempt to store a picture retries.
    await submitStep(withDatabaseAwayAfterAnswer(8), job);
    const { status, costNano, artifacts } = await rowOf(world, job.id);
    expect([status, costNano > 0n, artifacts.length]).toEqual(["succeeded", true, 1]);
    expect(world.painter.requests).toHaveLength(1);
  });

  /** Another process fails the task while its vendor answers; `lines` collects the logged errors. */
  function givenUp(id: string, lines: unknown[]): TaskServices {
    const giveUpSql =
      "update tasks set status = 'failed', lease_token = null, due_at = null where id = $1";
    return {
      ...servicesWith(async (point) => {
        if (point === "ask.answered") await world.database.query(giveUpSql, [id]);
      }),
      log: { ...silentLog, error: (fields: unknown) => void lines.push(fields) },
    };
  }

  it("T83: a result for a task that was given up meanwhile leaves no file and no charge, and is logged", async () => {
    const job = await pictureJob();
    const lines: unknown[] = [];
    await submitStep(givenUp(job.id, lines), job);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "failed", costNano: 0n });
    expect(lines).toEqual([{ task: job.id, provider: "painter" }]);
    const kept = "select name from files where task_id = $1 and expires_at > $2";
    expect(await world.database.query(kept, [job.id, new Date(clock.now())])).toEqual([]);
  });

  it("T83: a job for a task that was given up meanwhile is canceled at the vendor, and is logged with its id", async () => {
    const job = await jobOf(world, "acme/clip");
    const lines: unknown[] = [];
    await submitStep(givenUp(job.id, lines), job);
    expect(world.vendor.calls("DELETE").map(({ path }) => path)).toEqual([
      expect.stringMatching(/\/job-1$/),
    ]);
    expect(lines).toEqual([
      { task: job.id, provider: "one", upstream_id: "job-1", canceled: true },
    ]);
  });

  it("T83: a job is not canceled when only the confirmation of the write was lost", async () => {
    const job = await jobOf(world, "acme/clip");
    let lost = 0;
    const database: Database = {
      ...world.database,
      transaction: async (work, options) => {
        const done = await world.database.transaction(work, options);
        if (lost > 0) return done;
        lost += 1;
        throw new Error("Connection terminated unexpectedly");
      },
    };
    await submitStep({ ...world.services, database }, job);
    expect(lost).toBe(1);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "running", upstreamId: "job-1" });
    expect(world.vendor.calls("DELETE")).toEqual([]);
  });
});

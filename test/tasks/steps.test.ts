/**
 * Each step of a task, on a real database and with HTTP vendors, but without a gateway: what the step writes, and when the next
 * one is due. docs/tasks.md.
 */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { Health, openScope } from "../../src/routing/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { createAcceptance } from "../../src/tasks/accept.ts";
import { abandonedStep, submitStep } from "../../src/tasks/submit-step.ts";
import { cancelTask } from "../../src/tasks/cancel.ts";
import { defaultTiming } from "../../src/tasks/engine.ts";
import { extendLeases } from "../../src/tasks/lease.ts";
import { isPastDeadline, pollStep } from "../../src/tasks/poll-step.ts";
import { readTasks } from "../../src/tasks/read.ts";
import type { Job } from "../../src/tasks/rows.ts";
import { startRunner } from "../../src/tasks/runner.ts";
import { json, startRecorder } from "../support/recorder.ts";
import {
  openCircuit,
  clock,
  dollar,
  jobOf,
  rowOf,
  running,
  submissionOf,
  useWorld,
} from "./steps-support.ts";
import { says } from "./support.ts";

const world = useWorld();

describe("the acceptance of a task", () => {
  it("TASK-14: a task that the balance does not cover is refused without a retry", async () => {
    let tries = 0;
    const acceptance = createAcceptance({ ...world.services, at: () => void (tries += 1) });
    await expect(
      acceptance.accept(submissionOf(world, "acme/clip", 1_000n * dollar)),
    ).rejects.toMatchObject({
      code: "insufficient_balance",
    });
    expect(tries).toBe(1);
  });

  it("is idle once all tasks in flight are decided", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const acceptance = createAcceptance({ ...world.services, at: () => held });
    const order: string[] = [];
    const accepted = acceptance
      .accept(submissionOf(world, "acme/clip"))
      .then(() => order.push("accepted"));
    const idle = acceptance.idle().then(() => order.push("idle"));
    release();
    await Promise.all([accepted, idle]);
    expect(order).toEqual(["accepted", "idle"]);
  });
});

describe("a submission step", () => {
  it("T81: asks two refusing providers three times each, with pauses between the rounds, and then fails the task", async () => {
    world.vendor.plan("POST", says.refused(503));
    let job = await jobOf(world, "acme/clips");
    const seen: string[] = [];
    for (let steps = 0; steps < 9 && job.status === "queued"; steps += 1) {
      world.services = { ...world.services, health: new Health({ clock }) };
      await submitStep(world.services, job);
      await world.database.query("update tasks set lease_token = 'mine' where id = $1", [job.id]);
      job = await rowOf(world, job.id);
      const due = world.dueInMs.pop();
      seen.push(`${job.attempts.at(-1)!.provider} ${job.attempt} ${job.status} ${due}`);
    }
    expect(seen).toEqual([
      "one 1 queued 0",
      "two 2 queued 500",
      "one 3 queued 0",
      "two 4 queued 2000",
      "one 5 queued 0",
      "two 5 failed undefined",
    ]);
    expect(world.vendor.calls("POST")).toHaveLength(6);
  });

  it("skips a failing provider in the first round only, and never the only provider", async () => {
    openCircuit(world, "one");
    const several = await jobOf(world, "acme/clips");
    await submitStep(world.services, several);
    expect(world.vendor.calls("POST")).toHaveLength(0);
    expect((await rowOf(world, several.id)).attempt).toBe(1);
    await submitStep(world.services, await jobOf(world, "acme/clips", { attempt: 2 }));
    expect(world.vendor.calls("POST")).toHaveLength(1);
    await submitStep(world.services, await jobOf(world, "acme/clip"));
    expect(world.vendor.calls("POST")).toHaveLength(2);
  });

  it("T74: skips a provider that the caller's layers no longer allow", async () => {
    const job = await jobOf(world, "acme/clips");
    const constraints = { ...openScope, pinnedProviders: [["two"]] };
    await submitStep(world.services, { ...job, constraints });
    expect([world.vendor.calls("POST").length, (await rowOf(world, job.id)).attempt]).toEqual([
      0, 1,
    ]);
    await submitStep(world.services, {
      ...(await jobOf(world, "acme/clips", { attempt: 1 })),
      constraints,
    });
    expect(world.vendor.calls("POST")[0]!.headers.authorization).toBe("Bearer key-of-two");
  });

  it("waits without an attempt while the byte budget has no room for pictures; video jobs need none", async () => {
    world.services.budget.lease().add(world.services.budget.bytesMax);
    const pictures = await jobOf(world, "acme/pictures");
    await submitStep(world.services, pictures);
    expect([world.painter.requests.length, world.dueInMs]).toEqual([0, [defaultTiming.shortageMs]]);
    expect(await rowOf(world, pictures.id)).toMatchObject({
      status: "queued",
      attempt: 0,
      attempts: [],
    });
    await submitStep(world.services, await jobOf(world, "acme/clip"));
    expect(world.vendor.calls("POST")).toHaveLength(1);
  });

  it("counts a refusal against its provider, and an answer in its favor", async () => {
    const { outcomes } = world.services.health;
    outcomes.take();
    world.vendor.plan("POST", says.refused(503));
    await submitStep(world.services, await jobOf(world, "acme/clips"));
    expect(outcomes.take()).toMatchObject([{ provider: "one", outcome: "503", attempts: 1 }]);
    world.vendor.plan("POST", says.taken("job-1"));
    await submitStep(world.services, await jobOf(world, "acme/clips"));
    expect(outcomes.take()).toMatchObject([{ provider: "one", outcome: "", attempts: 1 }]);
  });

  it("counts for the vendor if it works but makes nothing, and the task fails", async () => {
    world.painter.answer(json({ data: [{ respect_moderation: false }] }));
    const job = await jobOf(world, "acme/pictures");
    const { outcomes } = world.services.health;
    outcomes.take();
    await submitStep(world.services, job);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "failed", costNano: 0n });
    expect(outcomes.take()).toMatchObject([{ provider: "painter", outcome: "", attempts: 1 }]);
  });

  it("T81: a submission that a dead process had begun is not repeated", async () => {
    const attempts = [{ provider: "one", outcome: "asked" }];
    const job = await jobOf(world, "acme/clip", {
      asking: true,
      attempts: JSON.stringify(attempts),
    });
    await abandonedStep(world.services, job);
    expect(await rowOf(world, job.id)).toMatchObject({
      status: "failed",
      error: { code: "submission_uncertain" },
      attempts: [{ provider: "one", outcome: "unknown" }],
    });
    expect(world.vendor.calls("POST")).toEqual([]);
  });
});

describe("a task that a vendor has accepted", () => {
  it("T80: expires after its vendor has not known it for long enough, and not before", async () => {
    world.vendor.plan("GET", says.refused(404));
    const { missingMs, missesMin } = defaultTiming;
    const missing = (since: number, misses = missesMin - 1) =>
      running(world, { misses, missing_since: new Date(clock.now() - since) });
    const statusAfter = async (job: Job) => {
      await pollStep(world.services, job);
      return (await rowOf(world, job.id)).status;
    };
    expect(await statusAfter(await missing(missingMs - 1))).toBe("running");
    expect(await statusAfter(await missing(missingMs, missesMin - 2))).toBe("running");
    expect(await statusAfter(await missing(missingMs))).toBe("expired");
  });

  it("is past its deadline from the exact millisecond", () => {
    const at = (ms: number) =>
      isPastDeadline(world.services, { expiresAt: new Date(clock.now() + ms) } as unknown as Job);
    expect([at(1), at(0), at(-1)]).toEqual([false, true, true]);
  });

  it("T80: is polled again later if its vendor cannot be reached", async () => {
    world.vendor.plan("GET", says.closed);
    const job = await running(world);
    await pollStep(world.services, job);
    expect((await rowOf(world, job.id)).status).toBe("running");
    expect(world.dueInMs).toEqual([defaultTiming.firstPollMs]);
  });

  it("VID-28: is in the request log with its usage and cost, or with the error", async () => {
    world.vendor.plan("GET", world.vendor.done);
    const done = await running(world);
    await pollStep(world.services, done);
    expect(world.requestRows.pop()).toMatchObject({
      id: done.id,
      status: "succeeded",
      usage: { unit: "video_tokens", tokens: 1000 },
      usageSource: "upstream",
      costNano: dollar,
      explanation: { error: null, reserved_nano: "1000000000" },
    });
    world.vendor.plan("GET", (response) =>
      response.end('{"status":"failed","error":{"message":"No."}}'),
    );
    await pollStep(world.services, await running(world));
    const { usage, usageSource, costNano, explanation, errorMessage } = world.requestRows.pop()!;
    expect({ usage, usageSource, costNano, errorMessage }).toEqual({
      costNano: 0n,
      errorMessage: "No.",
    });
    expect((explanation as { error: string }).error).not.toBeNull();
  });

  it("VID-28: is in the request log once, even if the answer to the final commit was lost", async () => {
    world.vendor.plan("GET", world.vendor.done);
    const job = await running(world, { webhook_url: "https://receiver.example/hook" });
    let lost = 0;
    const database: Database = {
      ...world.database,
      async transaction(work, options) {
        const value = await world.database.transaction(work, options);
        lost += 1;
        if (lost === 1) throw new Error("Connection terminated unexpectedly");
        return value;
      },
    };
    await pollStep({ ...world.services, database }, job);
    expect(lost).toBe(2);
    expect(world.requestRows.map(({ id, costNano }) => ({ id, costNano }))).toEqual([
      { id: job.id, costNano: dollar },
    ]);
    expect(world.callbacksDue).toBe(1);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "succeeded", costNano: dollar });
  });

  it("has a callback at its end only if it asked for one", async () => {
    const callbacks = async (job: Job) => {
      world.vendor.plan("GET", world.vendor.done);
      await pollStep(world.services, job);
      return world.database.query("select url from webhook_deliveries where task_id = $1", [
        job.id,
      ]);
    };
    expect([await callbacks(await running(world)), world.callbacksDue]).toEqual([[], 0]);
    const url = "https://receiver.example/hook";
    expect([
      await callbacks(await running(world, { webhook_url: url })),
      world.callbacksDue,
    ]).toEqual([[{ url }], 1]);
  });

  it("STORE-01: is not charged for a result that is larger than the limit", async () => {
    world.vendor.plan("GET", world.vendor.done);
    const job = await running(world);
    await pollStep({ ...world.services, videoBytesMax: 10 }, job);
    expect(await rowOf(world, job.id)).toMatchObject({
      status: "failed",
      costNano: 0n,
      error: { code: "artifact_unavailable" },
    });
  });

  const oneDollar = { completion_tokens: 1000, total_tokens: 1000 };

  it.each([
    [503, 2, "succeeded"],
    [403, 2, "succeeded"],
    [404, 2, "succeeded"],
    [410, 1, "failed"],
  ])(
    "STORE-01: a result answered with %s at first is fetched %s times: the task %s",
    async (status, times, end) => {
      let fetched = 0;
      const store = await startRecorder((_request, response) => {
        fetched += 1;
        if (fetched === 1) return void response.writeHead(status).end();
        response.writeHead(200, { "content-type": "video/mp4" });
        response.end(
          Buffer.concat([Buffer.from("0000001c667479706d703432", "hex"), Buffer.alloc(64)]),
        );
      });
      try {
        const content = { video_url: `${store.url}/made` };
        world.vendor.plan("GET", (response) =>
          response.end(JSON.stringify({ status: "succeeded", content, usage: oneDollar })),
        );
        const job = await running(world);
        await pollStep(world.services, job);
        expect([fetched, (await rowOf(world, job.id)).status]).toEqual([times, end]);
      } finally {
        await store.close();
      }
    },
  );
});

describe("a cancellation", () => {
  const refused = { code: "task_not_cancelable" };

  it("T82: is refused if the provider is gone from the configuration, or if the vendor does not confirm", async () => {
    const gone = await running(world);
    world.services = {
      ...world.services,
      catalog: () => ({ ...world.catalog, providers: new Map() }),
    };
    await expect(cancelTask(world.services, "w1", gone.id)).rejects.toMatchObject(refused);
    world.services = { ...world.services, catalog: () => world.catalog };
    world.vendor.plan("GET", says.running);
    world.vendor.plan("DELETE", says.refused(409));
    const working = await running(world);
    await expect(cancelTask(world.services, "w1", working.id)).rejects.toMatchObject(refused);
    expect((await rowOf(world, working.id)).status).toBe("running");
  });

  it("T82: a vendor that does not report the job's state is not asked to cancel it", async () => {
    for (const reply of [says.refused(503), says.closed, says.page, says.refused(404)]) {
      world.vendor.plan("GET", reply);
      const job = await running(world);
      await expect(cancelTask(world.services, "w1", job.id)).rejects.toMatchObject(refused);
      expect((await rowOf(world, job.id)).status).toBe("running");
    }
    expect(world.vendor.calls("DELETE")).toEqual([]);
  });

  it("T82: sends no request to a vendor that has canceled the job itself", async () => {
    world.vendor.plan("GET", (response) => response.end('{"status":"cancelled"}'));
    const job = await running(world);
    expect(await cancelTask(world.services, "w1", job.id)).toMatchObject({ status: "canceled" });
    expect(world.vendor.calls("DELETE")).toEqual([]);
  });
});

it("T79: only leases that this process still holds are extended", async () => {
  const before = new Date(clock.now() + 1);
  const [mine, lost] = [
    await running(world, { lease_until: before }),
    await running(world, { lease_until: before }),
  ];
  await world.database.query("update tasks set lease_token = 'theirs' where id = $1", [lost.id]);
  await extendLeases(world.services, [mine, lost]);
  const ends = await world.database.query<{ lease_until: Date }>(
    "select lease_until from tasks where id = any($1) order by id = $2 desc",
    [[mine.id, lost.id], mine.id],
  );
  const leaseEnd = new Date(clock.now() + defaultTiming.leaseMs);
  expect(ends.map((row) => row.lease_until)).toEqual([leaseEnd, before]);
});

it("TASK-42: tasks are read by id and workspace, in the requested order", async () => {
  const [one, two] = [await running(world), await running(world)];
  const names = [two, one].map(({ id }) => ({ workspaceId: "w1", id }));
  const read = await readTasks(world.database, [...names, { workspaceId: "w2", id: one.id }]);
  expect(read.map(({ id }) => id)).toEqual([two.id, one.id]);
});

it("T80: a step that fails because of our own error is repeated, but not past the deadline", async () => {
  const at = (point: string) => {
    if (point === "poll.begin") throw new Error("our own fault");
  };
  const job = await running(world, { lease_token: null });
  const late = await running(world, { lease_token: null, expires_at: new Date(clock.now() - 1) });
  const runner = startRunner({ ...world.services, at });
  const dueOf = async (id: string) => {
    const [row] = await world.database.query<{ status: string; due_at: Date | null }>(
      "select status, due_at from tasks where id = $1",
      [id],
    );
    return `${row!.status} ${row!.due_at && row!.due_at.getTime() - clock.now()}`;
  };
  await expect.poll(() => dueOf(late.id)).toBe("expired null");
  await expect.poll(() => dueOf(job.id)).toBe("running 5000");
  await runner.close();
});

it("a stop waits at most twenty seconds for a step that hangs", async () => {
  let reach: () => void = () => undefined;
  const hanging = new Promise<void>((resolve) => (reach = resolve));
  const job = await jobOf(world, "acme/clip", { lease_token: null });
  const forever = new Promise<void>(() => undefined);
  const runner = startRunner({
    ...world.services,
    at: (point) => (point === "ask.claimed" ? (reach(), forever) : undefined),
  });
  await hanging;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let closed = false;
    const closing = runner.close().then(() => (closed = true));
    while (vi.getTimerCount() === 0) await setImmediate();
    await vi.advanceTimersByTimeAsync(19_000);
    expect(closed).toBe(false);
    // A search for due tasks may have run first: the twenty seconds begin after it.
    for (let more = 0; more < 30; more += 1) await vi.advanceTimersByTimeAsync(1_000);
    expect(closed).toBe(true);
    await closing;
  } finally {
    vi.useRealTimers();
  }
  expect((await rowOf(world, job.id)).leaseToken).not.toBeNull();
});

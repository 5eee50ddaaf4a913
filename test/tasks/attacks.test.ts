/**
 * Vendors that lie about a task, and callers that crowd out others, in a short form each: no job, charge or slot is lost or
 * doubled. docs/tasks.md; T77, T79, T80, T83.
 */
import type { ServerResponse } from "node:http";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { cancelTask } from "../../src/tasks/cancel.ts";
import { defaultTiming, type TaskPoint, type TaskServices } from "../../src/tasks/engine.ts";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { atOnceMax } from "../../src/tasks/poll-rate-limiter.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import type { Job } from "../../src/tasks/rows.ts";
import { startRunner } from "../../src/tasks/runner.ts";
import { mp4 } from "../support/task-life.ts";
import { startRecorder } from "../support/recorder.ts";
import { ledgerReaderOf } from "../money/support.ts";
import { clock, dollar, jobOf, rowOf, running, useWorld } from "./steps-support.ts";
import { says, type Reply } from "./support.ts";

const world = useWorld();
const answers =
  (body: object): Reply =>
  (response) =>
    void response.end(JSON.stringify(body));
const leaseAgain = (id: string) =>
  world.database.query("update tasks set lease_token = 'mine' where id = $1", [id]);

describe("a vendor that misreports a task", () => {
  it("T80: a poll answered with another job's result, failure or cancellation is ignored, and the task is polled again", async () => {
    const job = await running(world);
    const video = { content: { video_url: `${world.vendor.url}/other.mp4` } };
    for (const status of ["succeeded", "failed", "cancelled", "expired"]) {
      world.vendor.plan("GET", answers({ id: "job-2", status, ...video }));
      await leaseAgain(job.id);
      await pollStep(world.services, await rowOf(world, job.id));
      expect(await rowOf(world, job.id)).toMatchObject({ status: "running", artifacts: [] });
    }
    world.vendor.plan("GET", world.vendor.done);
    await leaseAgain(job.id);
    await pollStep(world.services, await rowOf(world, job.id));
    expect(await rowOf(world, job.id)).toMatchObject({ status: "succeeded", costNano: dollar });
  });

  it("T80 T83: a state that goes back from succeeded to running ends the task once, with one charge", async () => {
    const job = await running(world);
    // The process dies: like an unreachable database, nothing more is written.
    const death = new GatewayError("database_unavailable", "the process died here");
    const stop = () => Promise.reject(death);
    const dying: TaskServices = {
      ...world.services,
      at: (point) => (point === "collect.stored" ? stop() : undefined),
    };
    world.vendor.plan("GET", world.vendor.done, says.running, world.vendor.done, says.running);
    await expect(pollStep(dying, job)).rejects.toThrow("died here");
    const seen: string[] = [];
    for (let polls = 0; polls < 3; polls += 1) {
      await leaseAgain(job.id);
      await pollStep(world.services, { ...job });
      seen.push((await rowOf(world, job.id)).status);
    }
    // After the second poll the task has ended and has no lease, so the third poll writes nothing.
    expect(seen).toEqual(["running", "succeeded", "succeeded"]);
    const charges = (await ledgerReaderOf(world.database).charges()).filter(
      ({ reference }) => reference === job.id,
    );
    expect(charges).toHaveLength(1);
  });

  it("STORE-01: a file that never ends is cut off at the size limit, and the task fails without a charge", async () => {
    const store = await startRecorder(async (_request, response) => {
      response.writeHead(200, { "content-type": "video/mp4" }).write(mp4);
      const more = Buffer.alloc(64 * 1024);
      const closed = once(response, "close");
      const left = new AbortController();
      void closed.then(() => left.abort());
      while (!response.destroyed) {
        if (response.write(more)) continue;
        // The reader may leave meanwhile.
        await once(response, "drain", { signal: left.signal }).catch(() => closed);
      }
    });
    const url = `${store.url}/endless`;
    world.vendor.plan("GET", answers({ status: "succeeded", content: { video_url: url } }));
    const job = await running(world);
    await pollStep({ ...world.services, videoBytesMax: 1024 * 1024 }, job);
    expect(store.requests).toHaveLength(1);
    expect(await rowOf(world, job.id)).toMatchObject({
      status: "failed",
      costNano: 0n,
      error: { code: "artifact_unavailable" },
    });
    await store.close();
  });

  it("STORE-01: a file that arrives byte by byte has one time limit for all attempts, and the task fails without a charge", async () => {
    const store = await startRecorder((_request, response) => {
      response.writeHead(200, { "content-type": "video/mp4" }).write(mp4);
      const timer = setInterval(() => response.write("."), 20);
      response.once("close", () => clearInterval(timer));
    });
    const url = `${store.url}/slow`;
    world.vendor.plan("GET", answers({ status: "succeeded", content: { video_url: url } }));
    const job = await running(world);
    const timing = { ...defaultTiming, downloadMs: 900 };
    await pollStep({ ...world.services, timing }, job);
    expect(store.requests).toHaveLength(1);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "failed", costNano: 0n });
    await store.close();
  });

  it("T77: a file that redirects into a private network is not fetched from there, and the task fails without a charge", async () => {
    const inside = await startRecorder((_request, response) => void response.end(mp4));
    const front = await startRecorder((_request, response) => {
      response.writeHead(302, { location: `${inside.url}/latest/meta-data` }).end();
    });
    const provider = { ...world.catalog.providers.get("one")!, baseUrl: `${front.url}/api/v3` };
    const providers = new Map(world.catalog.providers).set("one", provider);
    front.answer((request, response) => {
      if (request.path.endsWith("/made")) {
        response.writeHead(302, { location: `${inside.url}/latest/meta-data` }).end();
      } else
        answers({ status: "succeeded", content: { video_url: `${front.url}/made` } })(
          response,
          request,
        );
    });
    const job = await running(world);
    await pollStep(
      {
        ...world.services,
        allowPrivateAddresses: false,
        catalog: () => ({ ...world.catalog, providers }),
      },
      job,
    );
    expect(front.requests.map(({ path }) => path.split("/").at(-1))).toContain("made");
    expect(inside.requests).toEqual([]);
    expect(await rowOf(world, job.id)).toMatchObject({
      status: "failed",
      costNano: 0n,
      error: {
        code: "artifact_unavailable",
        // One sentence after the other, each with one full stop.
        message: expect.stringMatching(
          /: the file's address must not .*[^.]\. Nothing was charged\.$/,
        ),
      },
    });
    await Promise.all([inside.close(), front.close()]);
  });

  it("T83: a task that is canceled while its result is fetched ends canceled, without a charge or a file", async () => {
    const job = await running(world);
    world.vendor.plan("GET", world.vendor.done, answers({ status: "cancelled" }));
    const services: TaskServices = {
      ...world.services,
      async at(point) {
        if (point === "collect.stored") await cancelTask(world.services, "w1", job.id);
      },
    };
    await pollStep(services, job);
    expect(await rowOf(world, job.id)).toMatchObject({
      status: "canceled",
      costNano: 0n,
      artifacts: [],
    });
    const kept = await world.database.query(
      "select name from files where task_id = $1 and expires_at > $2",
      [job.id, new Date(clock.now())],
    );
    expect(kept).toEqual([]);
    const books = ledgerReaderOf(world.database);
    expect((await books.charges()).filter(({ reference }) => reference === job.id)).toEqual([]);
    expect((await books.holds()).filter(({ id }) => id === job.id)).toEqual([]);
  });
});

describe("a cancellation at a point of a step", () => {
  const outcomeOf = (id: string) =>
    cancelTask(world.services, "w1", id).then(
      () => "canceled",
      (error: { code?: string }) => error.code,
    );

  /** Cancels a job at a point of its step. Returns the outcome of the cancellation and the task's final state. */
  async function canceledAt(point: TaskPoint, job: Job): Promise<string> {
    let outcome: string | undefined = "never";
    const services: TaskServices = {
      ...world.services,
      at: async (passed) => {
        if (passed === point) outcome = await outcomeOf(job.id);
      },
    };
    const step = job.upstreamId === null ? submitStep : pollStep;
    await step(services, job);
    const { status, costNano } = await rowOf(world, job.id);
    const books = ledgerReaderOf(world.database);
    const charges = (await books.charges()).filter(({ reference }) => reference === job.id);
    const holds = (await books.holds()).filter(({ id }) => id === job.id);
    expect(charges.map((entry) => entry.amount_nano)).toEqual(costNano === 0n ? [] : [costNano]);
    expect(holds).toHaveLength(["queued", "running"].includes(status) ? 1 : 0);
    return `${outcome} ${status}`;
  }

  it.each([
    ["ask.claimed", "canceled canceled"],
    // It is unknown whether the vendor has the job: the cancellation is refused, and the task goes on.
    ["ask.intended", "task_not_cancelable running"],
    ["ask.answered", "task_not_cancelable running"],
    ["ask.noted", "canceled canceled"],
  ] as const)(
    "T82: at %s of the submission: the cancellation's outcome and the task's state are %s",
    async (point, expected) => {
      world.vendor.plan("GET", says.running);
      expect(await canceledAt(point, await jobOf(world, "acme/clip"))).toBe(expected);
      const asked = world.vendor.calls("POST").length;
      expect(asked).toBe(point === "ask.claimed" ? 0 : 1);
    },
  );

  it.each([
    ["poll.begin", "canceled canceled"],
    ["poll.answered", "canceled canceled"],
    ["collect.begin", "canceled canceled"],
    ["collect.stored", "canceled canceled"],
    ["end.begin", "canceled canceled"],
    ["end.committed", "task_not_cancelable succeeded"],
  ] as const)(
    "T82 T83: at %s of fetching the result: the task ends once and is charged at most once",
    async (point, expected) => {
      // The vendor forgets a job that it was told to cancel, even one that it had reported as done.
      const first = point === "poll.begin" ? [says.running] : [world.vendor.done];
      world.vendor.plan("GET", ...first, says.running);
      // The cancellation also ends the task, in the same way as a poll.
      const job = await running(world);
      expect(await canceledAt(point, job)).toBe(expected);
    },
  );
});

describe("a cancellation whose vendor has canceled the job but did not confirm it", () => {
  it.each([
    ["refused it, because another cancellation came first", says.refused(409)],
    ["lost the answer", says.closed],
  ])("TASK-46 T82: is successful if the vendor %s", async (_why, reply) => {
    const job = await running(world);
    world.vendor.plan("GET", says.running, answers({ status: "cancelled" }));
    world.vendor.plan("DELETE", reply);
    expect(await cancelTask(world.services, "w1", job.id)).toMatchObject({ status: "canceled" });
    expect(world.vendor.calls("DELETE")).toHaveLength(1);
    const books = ledgerReaderOf(world.database);
    expect((await books.holds()).filter(({ id }) => id === job.id)).toEqual([]);
  });

  it("TASK-46: two at once, in two processes, both report the canceled task", async () => {
    const job = await running(world);
    world.vendor.plan("GET", says.running, says.running, answers({ status: "cancelled" }));
    world.vendor.plan("DELETE", says.canceled, says.refused(409));
    const processes = [world.services, { ...world.services }];
    const both = await Promise.all(processes.map((each) => cancelTask(each, "w1", job.id)));
    expect(both.map(({ status }) => status)).toEqual(["canceled", "canceled"]);
  });

  it("T80: a hundred at once ask the vendor as often as one, and a later one asks again", async () => {
    const job = await running(world);
    world.vendor.plan("GET", says.running);
    world.vendor.plan("DELETE", says.refused(409));
    const cancel = () =>
      cancelTask(world.services, "w1", job.id).catch((error: unknown) => error as GatewayError);
    const all = await Promise.all(Array.from({ length: 100 }, cancel));
    expect(new Set(all.map((one) => "code" in one && one.code))).toEqual(
      new Set(["task_not_cancelable"]),
    );
    expect([world.vendor.calls("GET"), world.vendor.calls("DELETE")]).toMatchObject({
      0: { length: 2 },
      1: { length: 1 },
    });
    await cancel();
    expect(world.vendor.calls("DELETE")).toHaveLength(2);
  });
});

it("10,000 due tasks of one workspace do not delay the task of another workspace", async () => {
  // All of them are due earlier, and their vendor does not answer during the test.
  const silent: ServerResponse[] = [];
  world.vendor.plan("GET", (response) => void silent.push(response));
  const first = await running(world, { due_at: new Date(clock.now() - 10_000), lease_token: null });
  const names = await world.database.query<{ columns: string }>(
    `select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
     where table_name = 'tasks' and is_generated = 'NEVER' and column_name not in ('id', 'workspace_id')`,
    [],
  );
  const { columns } = names[0]!;
  const copy = (workspace: string, id: string, count: number) =>
    world.database.query(
      `insert into tasks (workspace_id, id, ${columns})
       select $2, $3 || n, ${columns} from tasks, generate_series(1, $4::integer) n where id = $1`,
      [first.id, workspace, id, count],
    );
  await copy("w1", `${first.id}_`, 10_000);
  const other = newId("task", clock.now());
  await world.database.query(
    `insert into workspaces (id, name) values ('w2', 'other') on conflict do nothing`,
    [],
  );
  await copy("w2", other, 1);
  await world.database.query("update tasks set due_at = $2 where id = $1", [
    `${other}1`,
    new Date(clock.now()),
  ]);
  const timing = { ...defaultTiming, questionMs: 20_000, sweepMs: 600_000 };
  const asked: string[] = [];
  const { promise: claimedMs, resolve } = Promise.withResolvers<number>();
  const begunMs = performance.now();
  const runner = startRunner({
    ...world.services,
    timing,
    database: {
      ...world.database,
      query: (async (sql: string, values: unknown[], options?: { name?: string }) => {
        const rows = await world.database.query<{ id: string }>(sql, values, options);
        if (options?.name === "tasks_claim") {
          asked.push(...rows.map(({ id }) => id));
          if (asked.includes(`${other}1`)) resolve(performance.now() - begunMs);
        }
        return rows;
      }) as typeof world.database.query,
    },
  });
  expect(await claimedMs).toBeLessThan(2_000);
  // They take half of the account's concurrent polls.
  expect(asked.filter((id) => id !== `${other}1`)).toHaveLength(atOnceMax / 2);
  runner.stopSteps();
  world.vendor.plan("GET", says.closed);
  for (const response of silent) response.destroy();
  await world.database.query("delete from tasks where id like $1 or id like $2", [
    `${first.id}_%`,
    `${other}%`,
  ]);
  await runner.close();
});

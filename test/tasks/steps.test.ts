/**
 * The steps of a task one by one, on a real database and with real vendors, and no gateway around them: what each writes, and
 * when the next one is due. docs/tasks.md.
 */
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { manualClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import {
  checkConfig,
  type Catalog,
  type MediaOffer,
  type VideoModel,
} from "../../src/catalog/index.ts";
import { createLedger } from "../../src/ledger/index.ts";
import { Health, openScope } from "../../src/routing/index.ts";
import {
  migrate,
  openDatabase,
  openFileStore,
  type Database,
  type RequestRow,
} from "../../src/storage/index.ts";
import { createAcceptance, type Submission } from "../../src/tasks/accept.ts";
import { abandonedStep, askStep } from "../../src/tasks/ask-step.ts";
import { cancelTask } from "../../src/tasks/cancel.ts";
import { defaultTiming, type TaskServices } from "../../src/tasks/engine.ts";
import { extendLeases } from "../../src/tasks/lease.ts";
import { isOver, pollStep } from "../../src/tasks/poll-step.ts";
import { readJob, readTasks } from "../../src/tasks/read.ts";
import { storedPlan, type Job } from "../../src/tasks/rows.ts";
import { startRunner } from "../../src/tasks/runner.ts";
import { openUpload } from "../../src/tasks/tasks.ts";
import { createPools } from "../../src/upstream/index.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  says,
  startArkVendor,
  type ArkVendor,
} from "./support.ts";

const clock = manualClock(Date.now());
const dollar = 1_000_000_000n;
let database: Database;
let vendor: ArkVendor;
let painter: Recorder;
let catalog: Catalog;
let services: TaskServices;
/** What the steps told the rest of the gateway. */
let logged: RequestRow[];
let due: number[];
let callbacksDue: number;

beforeAll(async () => {
  const url = await (await sharedPostgres()).createMigrated();
  database = await openDatabase({ url, log: silentLog });
  await migrate(database);
  await addWorkspace(database, "w1");
  await addKey(database, { workspaceId: "w1", id: "k1" });
  await createLedger(database).credit({
    workspaceId: "w1",
    amountNano: 100n * dollar,
    reference: "start",
  });
  vendor = await startArkVendor();
  painter = await startRecorder(json({ data: [] }));
  const file = configurationOf(
    [
      oneKey("one", vendor),
      oneKey("two", vendor),
      `  - { id: painter, dialect: xai, base_url: "${painter.url}/v1", api_key: secret }`,
    ],
    [
      clipModel("acme/clip", ["one"]),
      clipModel("acme/clips", ["one", "two"]),
      `
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers:
      - { provider: painter, upstream_model: m, price: { output_image: { low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }, input_image: "0.001" } }`,
    ],
  );
  const result = checkConfig(file, { environment: {} });
  if ("mistakes" in result) throw new Error(JSON.stringify(result.mistakes));
  catalog = result.config.catalog;
});
afterAll(async () => {
  await services?.pools.close();
  await database?.close();
  await Promise.all([vendor?.close(), painter?.close()]);
});

beforeEach(async () => {
  vendor.reset();
  painter.requests.length = 0;
  [logged, due, callbacksDue] = [[], [], 0];
  await services?.pools.close();
  services = {
    database,
    clock,
    log: silentLog,
    catalog: () => catalog,
    pools: createPools(),
    health: new Health({ clock }),
    budget: new ByteBudget(64 * 1024 * 1024),
    files: await openFileStore({ kind: "local" }, temporaryDirectory()),
    allowPrivateAddresses: true,
    queue: { global: 1_000, perWorkspace: 1_000 },
    retentionMs: 3_600_000,
    logged: (row) => void logged.push(row),
    due: (ms) => void due.push(ms - clock.now()),
    openUpload: (upload) => openUpload(services.files, upload),
    callbackDue: () => void (callbacksDue += 1),
    sweeps: () => true,
    at: () => undefined,
    timing: { ...defaultTiming, questionMs: 1_000 },
  };
});

const video = {
  kind: "video",
  family: "video-tokens",
  mode: "text",
  prompt: "A boat",
  durationSeconds: 2,
  resolution: "720p",
  references: [],
} as const;
const requests = {
  "acme/clip": video,
  "acme/clips": video,
  "acme/pictures": { kind: "image", family: "task-image-1", prompt: "A boat", n: 1, images: [] },
} as const;

/** What a task begins with. */
function submissionOf(model: keyof typeof requests, amountNano = dollar): Submission {
  const id = newId("task", clock.now());
  const { kind, family, offers } = catalog.models.get(model) as VideoModel;
  const now = new Date(clock.now()).toISOString();
  const plan = { offers: offers as readonly MediaOffer[], explanation: {}, constraints: openScope };
  const row = {
    workspace_id: "w1",
    id,
    key_id: "k1",
    member_id: null,
    kind,
    family,
    model,
    form: "tasks",
    request: JSON.stringify(requests[model]),
    notes: "[]",
    plan: JSON.stringify(storedPlan(plan as unknown as Parameters<typeof storedPlan>[0])),
    reserved_nano: amountNano,
    webhook_url: null,
    due_at: now,
    expires_at: new Date(clock.now() + 3_600_000).toISOString(),
    created_at: now,
    updated_at: now,
  };
  const hold = {
    id,
    workspaceId: "w1",
    keyId: "k1",
    amountNano,
    leaseMs: 1e9,
    kind: "task",
  } as const;
  return { row, hold, claim: undefined, uploads: [] };
}

/** A task in the hands of this process, changed as a test says. */
async function jobOf(model: keyof typeof requests, change: object = {}): Promise<Job> {
  const submission = submissionOf(model);
  const { id } = await createAcceptance(services).accept(submission);
  const columns = Object.entries({ lease_token: "mine", ...change });
  await database.query(
    `update tasks set ${columns.map(([name], at) => `${name} = $${at + 2}`).join(", ")} where id = $1`,
    [id, ...columns.map(([, value]) => value)],
  );
  return rowOf(id);
}
const rowOf = async (id: string): Promise<Job> => (await readJob(database, "w1", id))!;
/** One that the vendor `one` has. */
const running = (change: object = {}) =>
  jobOf("acme/clip", {
    status: "running",
    provider: "one",
    credential: "default",
    upstream_id: "job-1",
    ...change,
  });
const offerAt = (provider: string) => {
  const model = catalog.models.get("acme/clips")!;
  const offer = (model.offers as readonly MediaOffer[]).find((one) => one.provider === provider)!;
  return { offer, provider: catalog.providers.get(provider)! };
};
/** A provider fails until its circuit opens. */
function breakDown(provider: string): void {
  const at = offerAt(provider);
  const credential = at.provider.credentials[0]!;
  for (let tries = 0; tries < 50 && services.health.standing(at.offer, at.provider) !== "out";)
    services.health.unanswered(
      { ...at, credential, begunMs: services.health.nowMs() + tries++ },
      { hurtsHealth: true, silent: true },
    );
  expect(services.health.standing(at.offer, at.provider)).toBe("out");
}

describe("acceptance", () => {
  it("TASK-14: what the balance does not cover is refused by one look at it", async () => {
    let looks = 0;
    const acceptance = createAcceptance({ ...services, at: () => void (looks += 1) });
    await expect(
      acceptance.accept(submissionOf("acme/clip", 1_000n * dollar)),
    ).rejects.toMatchObject({
      code: "insufficient_balance",
    });
    expect(looks).toBe(1);
  });

  it("is idle once what was on its way is decided", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const acceptance = createAcceptance({ ...services, at: () => held });
    const order: string[] = [];
    const accepted = acceptance
      .accept(submissionOf("acme/clip"))
      .then(() => order.push("accepted"));
    const idle = acceptance.idle().then(() => order.push("idle"));
    release();
    await Promise.all([accepted, idle]);
    expect(order).toEqual(["accepted", "idle"]);
  });
});

describe("asking", () => {
  it("T81: two providers that refuse are asked three times each, with a pause between the rounds, and then it has failed", async () => {
    vendor.plan("POST", says.refused(503));
    let job = await jobOf("acme/clips");
    const seen: string[] = [];
    for (let steps = 0; steps < 9 && job.status === "queued"; steps += 1) {
      services = { ...services, health: new Health({ clock }) };
      await askStep(services, job);
      await database.query("update tasks set lease_token = 'mine' where id = $1", [job.id]);
      job = await rowOf(job.id);
      seen.push(`${job.attempts.at(-1)!.provider} ${job.attempt} ${job.status} ${due.pop()}`);
    }
    expect(seen).toEqual([
      "one 1 queued 0",
      "two 2 queued 500",
      "one 3 queued 0",
      "two 4 queued 2000",
      "one 5 queued 0",
      "two 5 failed undefined",
    ]);
    expect(vendor.calls("POST")).toHaveLength(6);
  });

  it("passes over a provider in trouble in the first round alone, and never the only one", async () => {
    breakDown("one");
    const several = await jobOf("acme/clips");
    await askStep(services, several);
    expect([vendor.calls("POST").length, (await rowOf(several.id)).attempt]).toEqual([0, 1]);
    await askStep(services, await jobOf("acme/clips", { attempt: 2 }));
    expect(vendor.calls("POST")).toHaveLength(1);
    await askStep(services, await jobOf("acme/clip"));
    expect(vendor.calls("POST")).toHaveLength(2);
  });

  it("T74: leaves out a provider that the layers of its caller do not allow any more", async () => {
    const job = await jobOf("acme/clips");
    const constraints = { ...openScope, pinnedProviders: [["two"]] };
    await askStep(services, { ...job, constraints });
    expect([vendor.calls("POST").length, (await rowOf(job.id)).attempt]).toEqual([0, 1]);
    await askStep(services, { ...(await jobOf("acme/clips", { attempt: 1 })), constraints });
    expect(vendor.calls("POST")[0]!.headers.authorization).toBe("Bearer key-of-two");
  });

  it("waits, without an attempt, while the budget of bytes has no room for pictures; jobs that are asked after take none", async () => {
    services.budget.lease().add(services.budget.bytesMax);
    const pictures = await jobOf("acme/pictures");
    await askStep(services, pictures);
    expect([painter.requests.length, due]).toEqual([0, [defaultTiming.shortageMs]]);
    expect(await rowOf(pictures.id)).toMatchObject({ status: "queued", attempt: 0, attempts: [] });
    await askStep(services, await jobOf("acme/clip"));
    expect(vendor.calls("POST")).toHaveLength(1);
  });

  it("counts a refusal against its provider, and an answer for it", async () => {
    const lastHour = () => services.health.lastHour("one");
    vendor.plan("POST", says.refused(503));
    await askStep(services, await jobOf("acme/clips"));
    const failed = [{ code: "503", count: 1 }];
    expect(lastHour()).toMatchObject({ calls_last_hour: 1, errors_last_hour: failed });
    vendor.plan("POST", says.taken("job-1"));
    await askStep(services, await jobOf("acme/clips"));
    expect(lastHour()).toMatchObject({ calls_last_hour: 2, errors_last_hour: failed });
  });

  it("of a vendor that does what it should, and makes nothing, fails the task and counts for the vendor", async () => {
    painter.answer(json({ data: [{ respect_moderation: false }] }));
    const job = await jobOf("acme/pictures");
    await askStep(services, job);
    expect(await rowOf(job.id)).toMatchObject({ status: "failed", costNano: 0n });
    expect(services.health.lastHour("painter")).toEqual({
      calls_last_hour: 1,
      errors_last_hour: [],
    });
  });

  it("T81: a step that a dead process had begun is not taken again", async () => {
    const attempts = [{ provider: "one", outcome: "asked" }];
    const job = await jobOf("acme/clip", { asking: true, attempts: JSON.stringify(attempts) });
    await abandonedStep(services, job);
    expect(await rowOf(job.id)).toMatchObject({
      status: "failed",
      error: { code: "submission_uncertain" },
      attempts: [{ provider: "one", outcome: "unknown" }],
    });
    expect(vendor.calls("POST")).toEqual([]);
  });
});

describe("a task that a vendor has", () => {
  it("T80: is expired when its vendor has not known it for long enough, and not before", async () => {
    vendor.plan("GET", says.refused(404));
    const { missingMs, missesMin } = defaultTiming;
    const missing = (since: number, misses = missesMin - 1) =>
      running({ misses, missing_since: new Date(clock.now() - since) });
    const statusAfter = async (job: Job) => {
      await pollStep(services, job);
      return (await rowOf(job.id)).status;
    };
    expect(await statusAfter(await missing(missingMs - 1))).toBe("running");
    expect(await statusAfter(await missing(missingMs, missesMin - 2))).toBe("running");
    expect(await statusAfter(await missing(missingMs))).toBe("expired");
  });

  it("is over at its deadline, to the millisecond", () => {
    const at = (ms: number) =>
      isOver(services, { expiresAt: new Date(clock.now() + ms) } as unknown as Job);
    expect([at(1), at(0), at(-1)]).toEqual([false, true, true]);
  });

  it("T80: whose vendor cannot be reached is asked again later", async () => {
    vendor.plan("GET", says.closed);
    const job = await running();
    await pollStep(services, job);
    expect((await rowOf(job.id)).status).toBe("running");
    expect(due).toEqual([defaultTiming.firstPollMs]);
  });

  it("VID-28: is in the request log as it ended: with usage and cost, or with why not", async () => {
    vendor.plan("GET", vendor.done);
    const done = await running();
    await pollStep(services, done);
    expect(logged.pop()).toMatchObject({
      id: done.id,
      status: "succeeded",
      usage: { unit: "video_tokens", tokens: 1000 },
      usageSource: "upstream",
      costNano: dollar,
      explanation: { error: null, reserved_nano: "1000000000" },
    });
    vendor.plan("GET", (response) => response.end('{"status":"failed","error":{"message":"No."}}'));
    await pollStep(services, await running());
    const { usage, usageSource, costNano, explanation, errorMessage } = logged.pop()!;
    expect({ usage, usageSource, costNano, errorMessage }).toEqual({
      costNano: 0n,
      errorMessage: "No.",
    });
    expect((explanation as { error: string }).error).not.toBeNull();
  });

  it("HOOK: has a callback at its end where it asked for one, and none otherwise", async () => {
    const callbacks = async (job: Job) => {
      vendor.plan("GET", vendor.done);
      await pollStep(services, job);
      return database.query("select url from webhook_deliveries where task_id = $1", [job.id]);
    };
    expect([await callbacks(await running()), callbacksDue]).toEqual([[], 0]);
    const url = "https://receiver.example/hook";
    expect([await callbacks(await running({ webhook_url: url })), callbacksDue]).toEqual([
      [{ url }],
      1,
    ]);
  });

  it("STORE-01: is charged nothing for a result that is larger than what is kept", async () => {
    vendor.plan("GET", vendor.done);
    const job = await running();
    await pollStep({ ...services, videoBytesMax: 10 }, job);
    expect(await rowOf(job.id)).toMatchObject({
      status: "failed",
      costNano: 0n,
      error: { code: "artifact_unavailable" },
    });
  });

  it.each([
    [503, 2, "succeeded"],
    [404, 1, "failed"],
  ])(
    "whose result is answered with %s at first is fetched %s times: it has %s",
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
        vendor.plan("GET", (response) =>
          response.end(JSON.stringify({ status: "succeeded", content })),
        );
        const job = await running();
        await pollStep(services, job);
        expect([fetched, (await rowOf(job.id)).status]).toEqual([times, end]);
      } finally {
        await store.close();
      }
    },
  );
});

describe("cancellation", () => {
  const refused = { code: "task_not_cancelable" };

  it("T82: is refused where nobody can be asked any more, or the vendor does not confirm", async () => {
    const gone = await running();
    services = { ...services, catalog: () => ({ ...catalog, providers: new Map() }) };
    await expect(cancelTask(services, "w1", gone.id)).rejects.toMatchObject(refused);
    services = { ...services, catalog: () => catalog };
    vendor.plan("GET", says.running);
    vendor.plan("DELETE", says.refused(409));
    const working = await running();
    await expect(cancelTask(services, "w1", working.id)).rejects.toMatchObject(refused);
    expect((await rowOf(working.id)).status).toBe("running");
  });

  it("T82: needs no word to a vendor that has canceled the job itself", async () => {
    vendor.plan("GET", (response) => response.end('{"status":"cancelled"}'));
    const job = await running();
    expect(await cancelTask(services, "w1", job.id)).toMatchObject({ status: "canceled" });
    expect(vendor.calls("DELETE")).toEqual([]);
  });
});

it("T79: leases of jobs under way are extended, of those that are still ours", async () => {
  const before = new Date(clock.now() + 1);
  const [mine, lost] = [
    await running({ lease_until: before }),
    await running({ lease_until: before }),
  ];
  await database.query("update tasks set lease_token = 'theirs' where id = $1", [lost.id]);
  await extendLeases(services, [mine, lost]);
  const ends = await database.query<{ lease_until: Date }>(
    "select lease_until from tasks where id = any($1) order by id = $2 desc",
    [[mine.id, lost.id], mine.id],
  );
  const leaseEnd = new Date(clock.now() + defaultTiming.leaseMs);
  expect(ends.map((row) => row.lease_until)).toEqual([leaseEnd, before]);
});

it("TASK-42: tasks are read by name and workspace, in the order asked", async () => {
  const [one, two] = [await running(), await running()];
  const names = [two, one].map(({ id }) => ({ workspaceId: "w1", id }));
  const read = await readTasks(database, [...names, { workspaceId: "w2", id: one.id }]);
  expect(read.map(({ id }) => id)).toEqual([two.id, one.id]);
});

it("a stop waits for a step that hangs for twenty seconds, and no longer", async () => {
  let come: () => void = () => undefined;
  const hanging = new Promise<void>((resolve) => (come = resolve));
  const job = await jobOf("acme/clip", { lease_token: null });
  const forever = new Promise<void>(() => undefined);
  const runner = startRunner({
    ...services,
    at: (point) => (point === "ask.claimed" ? (come(), forever) : undefined),
  });
  await hanging;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let closed = false;
    const closing = runner.close().then(() => (closed = true));
    while (vi.getTimerCount() === 0) await setImmediate();
    await vi.advanceTimersByTimeAsync(19_000);
    expect(closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await closing;
  } finally {
    vi.useRealTimers();
  }
  expect((await rowOf(job.id)).leaseToken).not.toBeNull();
});

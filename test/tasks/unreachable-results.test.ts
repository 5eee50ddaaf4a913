/**
 * Results that temporarily cannot be fetched or stored. The vendor has made and charged them, and keeps them for a while.
 * docs/tasks.md; STORE-01.
 */
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { WatchedFiles } from "../../src/files/index.ts";
import { takenTarget } from "../../src/tasks/attempt.ts";
import { collect } from "../../src/tasks/collect.ts";
import { defaultTiming } from "../../src/tasks/engine.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import type { Job } from "../../src/tasks/rows.ts";
import { pixel } from "../support/pixel.ts";
import { startRecorder } from "../support/recorder.ts";
import { mp4 } from "../support/task-life.ts";
import { clock, rowOf, running, useWorld } from "./steps-support.ts";
import { says, type Reply } from "./support.ts";

const world = useWorld();

const doneAt =
  (url: string): Reply =>
  (response) =>
    void response.end(
      JSON.stringify({
        status: "succeeded",
        content: { video_url: url },
        usage: { completion_tokens: 1000, total_tokens: 1000 },
      }),
    );

const attempt = { provider: "one", credential: "default", outcome: "taken" };
const withAttempt = { attempts: JSON.stringify([attempt]) };

const page = (type: string, text: string) => (response: ServerResponse) =>
  response.writeHead(200, { "content-type": type, "content-length": text.length }).end(text);

/** Runs the next poll in this process. Returns the task after it. */
async function pollAgain({ id }: Job, services = world.services): Promise<Job> {
  await world.database.query("update tasks set lease_token = 'mine' where id = $1", [id]);
  await pollStep(services, await rowOf(world, id));
  return rowOf(world, id);
}

describe("a result that cannot be fetched", () => {
  it("STORE-01: is fetched again at a later poll, and its task succeeds", async () => {
    let isAway = true;
    const store = await startRecorder((_request, response) => {
      if (isAway) return void response.writeHead(503).end();
      response.writeHead(200, { "content-length": mp4.length }).end(mp4);
    });
    world.vendor.plan("GET", doneAt(`${store.url}/made`));
    const job = await running(world);
    await pollStep(world.services, job);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "running", error: null });
    expect(Math.max(...world.dueInMs)).toBeLessThanOrEqual(20_000);
    clock.advance(60_000);
    expect(await pollAgain(job)).toMatchObject({ status: "running" });
    isAway = false;
    clock.advance(30_000);
    expect(await pollAgain(job)).toMatchObject({ status: "succeeded" });
    await store.close();
  });

  it.each<[what: string, (response: ServerResponse) => unknown]>([
    ["is empty", (response) => response.writeHead(200, { "content-length": 0 }).end()],
    // An error page of a failing server or proxy, with any content type.
    ["is an HTML page", page("video/mp4", "\n <!doctype html><h1>502 Bad Gateway</h1>")],
    ["is an error in JSON", page("application/octet-stream", '{"error":"try again"}')],
    ["is a text", page("text/plain", "Service unavailable.")],
    [
      "is shorter than its Content-Length",
      (response) =>
        response
          .writeHead(200, { "content-length": 2 * mp4.length })
          .write(mp4, () => response.destroy()),
    ],
    [
      "has no declared length",
      (response) => response.writeHead(200, { connection: "close" }).end(mp4),
    ],
  ])("STORE-01: is fetched again because it %s, and its task succeeds", async (_what, first) => {
    let isThere = false;
    const store = await startRecorder((_request, response) => {
      response.useChunkedEncodingByDefault = false;
      if (!isThere) return void first(response);
      response.writeHead(200, { "content-length": mp4.length }).end(mp4);
    });
    world.vendor.plan("GET", doneAt(`${store.url}/made`));
    const job = await running(world, withAttempt);
    await pollStep(world.services, job);
    expect(await rowOf(world, job.id)).toMatchObject({
      status: "running",
      attempts: [{ outcome: "not_fetched", tries: 1 }],
    });
    isThere = true;
    const ended = await pollAgain(job);
    expect(ended).toMatchObject({ status: "succeeded", artifacts: [{ bytes: mp4.length }] });
    await store.close();
  });

  it("STORE-01: is fetched from the new URL that its vendor reports when the first one no longer works", async () => {
    const store = await startRecorder((request, response) => {
      if (request.path === "/stale") return void response.writeHead(403).end();
      response.writeHead(200, { "content-length": mp4.length }).end(mp4);
    });
    world.vendor.plan("GET", doneAt(`${store.url}/stale`), doneAt(`${store.url}/fresh`));
    const job = await running(world);
    await pollStep(world.services, job);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "running", error: null });
    clock.advance(30_000);
    expect(await pollAgain(job)).toMatchObject({ status: "succeeded" });
    await store.close();
  });

  it("STORE-01: fails its task after five attempts over the allowed time, without a charge or a file", async () => {
    const store = await startRecorder((_request, response) => {
      response.writeHead(200, { "content-length": 10_000 });
      response.write(mp4, () => response.destroy());
    });
    world.vendor.plan("GET", doneAt(`${store.url}/made`));
    const job = await running(world, withAttempt);
    await pollStep(world.services, job);
    expect((await rowOf(world, job.id)).status).toBe("running");
    // As if gateways were stopped or the clock was set: there was no try meanwhile.
    clock.advance(2 * defaultTiming.downloadMs);
    for (const tries of [2, 3, 4])
      expect(await pollAgain(job)).toMatchObject({
        status: "running",
        attempts: [{ outcome: "not_fetched", tries }],
      });
    expect(await pollAgain(job)).toMatchObject({
      status: "failed",
      costNano: 0n,
      error: { code: "artifact_unavailable" },
    });
    const kept = await world.database.query(
      "select name from files where task_id = $1 and expires_at > $2",
      [job.id, new Date(clock.now())],
    );
    expect(kept).toEqual([]);
    await store.close();
  });

  it("STORE-01: is fetched again, even if our storage was away for longer than fetching may take", async () => {
    let isAway = false;
    const store = await startRecorder((_request, response) => {
      if (isAway) return void response.writeHead(503).end();
      response.writeHead(200, { "content-length": mp4.length }).end(mp4);
    });
    world.vendor.plan("GET", doneAt(`${store.url}/made`));
    const { services } = world;
    const failingFiles: WatchedFiles = {
      ...services.files,
      put: () => Promise.reject(new Error("full")),
    };
    const job = await running(world, withAttempt);
    await pollStep({ ...services, files: failingFiles }, job);
    const lastOf = ({ attempts }: Job) => attempts.at(-1)?.outcome;
    expect(lastOf(await rowOf(world, job.id))).toBe("not_stored");
    clock.advance(2 * defaultTiming.downloadMs);
    isAway = true;
    // The vendor's storage fails for a moment, just when the gateway's is back.
    const away = await pollAgain(job);
    expect([away.status, lastOf(away)]).toEqual(["running", "not_fetched"]);
    clock.advance(defaultTiming.downloadMs / 2);
    expect(await pollAgain(job)).toMatchObject({ status: "running" });
    isAway = false;
    expect(await pollAgain(job)).toMatchObject({ status: "succeeded", error: null });
    await store.close();
  });

  it("T80: does not count as a missing job, so a later 404 for its job leaves the task running", async () => {
    const store = await startRecorder((_request, response) => void response.writeHead(503).end());
    world.vendor.plan("GET", doneAt(`${store.url}/made`), says.refused(404));
    const timing = { ...defaultTiming, missesMin: 1 };
    const job = await running(world);
    await pollStep(world.services, job);
    clock.advance(defaultTiming.missingMs);
    expect(await pollAgain(job, { ...world.services, timing })).toMatchObject({
      status: "running",
      misses: 1,
    });
    await store.close();
  });
});

it("STORE-01: no file is kept when our storage accepts only some of several results", async () => {
  const job = await running(world);
  const { files } = world.services;
  let puts = 0;
  const partlyFailing: WatchedFiles = {
    ...files,
    put(...given) {
      puts += 1;
      return puts < 3 ? files.put(...given) : Promise.reject(new Error("the disk is full"));
    },
  };
  const base64 = mp4.toString("base64");
  const results = Array.from({ length: 3 }, () => ({ from: "base64", base64 }) as const);
  const target = takenTarget(world.services, job)!;
  const answer = { state: "succeeded", results, reported: {} } as const;
  const once = { ...world.services, files: partlyFailing };
  await expect(collect(once, job, { target, answer })).rejects.toThrow("the disk is full");
  const rows = await world.database.query<{ name: string; expires_at: Date }>(
    "select name, expires_at from files where task_id = $1",
    [job.id],
  );
  // The third file was tried three times, under one name.
  expect([rows.length, puts]).toEqual([3, 5]);
  const isOver = (at: Date) => at.getTime() <= clock.now();
  expect(rows.filter(({ expires_at: at }) => !isOver(at))).toEqual([]);
  const open = await Promise.all(rows.map(({ name }) => files.open(name)));
  expect(open.filter((file) => file !== undefined)).toEqual([]);
});

it.each([
  ["a picture", Buffer.from(pixel, "base64")],
  ["not a media file", Buffer.from("not yet")],
])("STORE-01: a result inside the answer fails a video task if it is %s", async (_what, bytes) => {
  const job = await running(world);
  const target = takenTarget(world.services, job)!;
  const results = [{ from: "base64", base64: bytes.toString("base64") }] as const;
  const answer = { state: "succeeded", results, reported: {} } as const;
  await collect(world.services, job, { target, answer });
  const { status, error } = await rowOf(world, job.id);
  expect({ status, code: error?.code }).toEqual({
    status: "failed",
    code: "artifact_unavailable",
  });
  const sql = "select name from files where task_id = $1";
  expect(await world.database.query(sql, [job.id])).toEqual([]);
});

const storageFaults: readonly [what: string, error: Error][] = [
  ["a full disk", new Error("the disk is full")],
  [
    "a bucket that cannot be reached",
    Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:9000"), { code: "ECONNREFUSED" }),
  ],
  ["a directory that is gone", Object.assign(new Error("no such file"), { code: "ENOENT" })],
];

it.each(storageFaults)(
  "STORE-01: with %s a result is fetched again after growing pauses of up to five minutes",
  async (_what, error) => {
    const failingFiles: WatchedFiles = {
      ...world.services.files,
      put: () => Promise.reject(error),
    };
    const services = { ...world.services, files: failingFiles };
    world.vendor.plan("GET", world.vendor.done);
    const job = await running(world);
    await pollStep(services, job);
    const pauses: number[] = [];
    for (const waitedMs of [60_000, 600_000]) {
      clock.advance(waitedMs);
      expect(await pollAgain(job, services)).toMatchObject({ status: "running", error: null });
      pauses.push(world.dueInMs.at(-1)!);
    }
    expect(pauses[0]).toBeGreaterThanOrEqual(30_000);
    expect(pauses[1]).toBe(300_000);
    expect(await pollAgain(job)).toMatchObject({ status: "succeeded" });
  },
);

/**
 * Results in a vendor's answer while the gateway's storage fails. Only the gateway has them, and the vendor charges for them. It
 * holds them and retries for some minutes; then the task fails with an error message. docs/tasks.md; STORE-01.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WatchedFiles } from "../../src/files/index.ts";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { defaultTiming, type TaskServices, type TaskTiming } from "../../src/tasks/engine.ts";
import { startRunner } from "../../src/tasks/runner.ts";
import { ledgerReaderOf } from "../money/support.ts";
import { eventually } from "../support/patience.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { jobOf, rowOf, taskCatalogOf, useWorld } from "./steps-support.ts";
import { pixel } from "../support/pixel.ts";

const world = useWorld();
let painter: Recorder;
beforeAll(async () => void (painter = await startRecorder(json({ data: [{ b64_json: pixel }] }))));
afterAll(() => painter?.close());

/** Services whose painter answers with a picture, and whose storage fails while `isAway`. */
function withStorage(timing: Partial<TaskTiming> = {}) {
  const state = { isAway: true, names: new Set<string>(), tries: 0 };
  const { files } = world.services;
  const failingFiles: WatchedFiles = {
    ...files,
    put(...given) {
      state.tries += 1;
      state.names.add(given[0]);
      return state.isAway ? Promise.reject(new Error("the bucket is away")) : files.put(...given);
    },
  };
  const catalog = taskCatalogOf(world.vendor, painter);
  const services: TaskServices = {
    ...world.services,
    files: failingFiles,
    catalog: () => catalog,
    timing: { ...defaultTiming, keepPauseMs: 2, ...timing },
  };
  return { state, services };
}

/** No process has leased the task yet. */
const due = { lease_token: null };

/** The ledger's number of open holds and the charged amount of a task. */
async function moneyOf(id: string) {
  const books = ledgerReaderOf(world.database);
  const held = (await books.holds()).filter((hold) => hold["id"] === id);
  return { held: held.length, charged: (await books.entry(id))?.amount_nano };
}

it("STORE-01: a picture in the answer is held while the storage is away, stored once it is back, and charged once", async () => {
  const { state, services } = withStorage();
  const asked = painter.requests.length;
  const job = await jobOf(world, "acme/pictures");
  const step = submitStep(services, job);
  await eventually(() => state.tries >= 20, "many tries");
  expect(await rowOf(world, job.id)).toMatchObject({ status: "running", asking: true });
  // The held picture counts in the budget of body bytes.
  expect(services.budget.heldBytes).toBeGreaterThan(pixel.length);
  state.isAway = false;
  await step;
  expect(await rowOf(world, job.id)).toMatchObject({ status: "succeeded", error: null });
  expect(painter.requests.length - asked).toBe(1);
  // All retries use one row.
  const rows = await world.database.query("select name from files where task_id = $1", [job.id]);
  expect([rows, state.names.size]).toEqual([[{ name: [...state.names][0] }], 1]);
  expect(services.budget.heldBytes).toBe(0);
  expect(await moneyOf(job.id)).toEqual({ held: 0, charged: 30_000_000n });
});

it("STORE-01: a picture that cannot be stored for the allowed time fails its task with a message, without a charge", async () => {
  expect(defaultTiming.downloadMs).toBe(600_000);
  const { state, services } = withStorage({ downloadMs: 300 });
  const job = await jobOf(world, "acme/pictures");
  await submitStep(services, job);
  expect(state.tries).toBeGreaterThan(3);
  expect(await rowOf(world, job.id)).toMatchObject({
    status: "failed",
    costNano: 0n,
    error: {
      code: "artifact_unavailable",
      message:
        "The provider's result could not be stored: the gateway's storage failed. Nothing was charged.",
    },
  });
  expect(services.budget.heldBytes).toBe(0);
  expect(await moneyOf(job.id)).toEqual({ held: 0, charged: 0n });
});

it("STORE-01: a held picture is tried once more when its gateway stops, and then its task fails with a message", async () => {
  const { state, services } = withStorage({ closeMs: 2_000, keepPauseMs: 10_000 });
  const job = await jobOf(world, "acme/pictures", due);
  const runner = startRunner(services);
  await eventually(() => state.tries > 0, "a first try");
  await runner.close();
  expect(state.tries).toBe(2);
  expect(await rowOf(world, job.id)).toMatchObject({
    status: "failed",
    asking: false,
    error: { code: "artifact_unavailable" },
  });
});

it("STORE-01: a held picture whose storage hangs when its gateway stops fails its task before the gateway exits", async () => {
  const { services } = withStorage({ closeMs: 1_000 });
  const { promise: never } = Promise.withResolvers<never>();
  let tries = 0;
  const put = (): Promise<never> => ((tries += 1), never);
  const job = await jobOf(world, "acme/pictures", due);
  const runner = startRunner({ ...services, files: { ...services.files, put } });
  await eventually(() => tries > 0, "a try");
  await runner.close();
  expect(await rowOf(world, job.id)).toMatchObject({
    status: "failed",
    asking: false,
    error: { code: "artifact_unavailable" },
  });
});

/** Support for tests of single steps: a database with a workspace and money, vendors, and tasks leased to this process. */
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { manualClock } from "../support/manual-clock.ts";
import { newId } from "../../src/base/ids.ts";
import type { Catalog, MediaOffer, VideoModel } from "../../src/catalog/index.ts";
import { openFileStore } from "../../src/files/index.ts";
import type { RequestRow } from "../../src/request-log/index.ts";
import { Health, openScope } from "../../src/routing/index.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { createAcceptance, type Submission } from "../../src/tasks/accept.ts";
import { defaultTiming, type TaskServices } from "../../src/tasks/engine.ts";
import { createPollRateLimiter } from "../../src/tasks/poll-rate-limiter.ts";
import { createPollTroubles } from "../../src/tasks/poll-troubles.ts";
import { readJob } from "../../src/tasks/read.ts";
import { storedPlan, type Job } from "../../src/tasks/rows.ts";
import { openUpload } from "../../src/tasks/tasks.ts";
import { createPools } from "../../src/upstream/index.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { clipModel, configurationOf, oneKey, startArkVendor, type ArkVendor } from "./support.ts";
import { catalogIn } from "../support/config-text.ts";
import { createLedger } from "../support/ledger.ts";

export const clock = manualClock(Date.now());
export const dollar = 1_000_000_000n;

/** The environment of a test; `services` and their records are new for each test. */
export interface World {
  database: Database;
  /** The vendor of the providers `one` and `two`, for videos. */
  vendor: ArkVendor;
  /** The vendor of pictures, which it returns at once. */
  painter: Recorder;
  catalog: Catalog;
  services: TaskServices;
  requestRows: RequestRow[];
  /** Delays of due steps, in milliseconds. */
  dueInMs: number[];
  callbacksDue: number;
}

/** Opens a world before the tests of a file, and closes it after them. */
export function useWorld(): World {
  const world = {} as World;
  beforeAll(() => open(world));
  afterAll(async () => {
    await world.services?.pools.close();
    await world.database?.close();
    await Promise.all([world.vendor?.close(), world.painter?.close()]);
  });
  beforeEach(async () => {
    world.vendor.reset();
    world.painter.requests.length = 0;
    // The vendor gives each task the same job id, which two running tasks must not share.
    await world.database.query(
      "update tasks set status = 'canceled', due_at = null where due_at is not null",
    );
    await world.services?.pools.close();
    Object.assign(world, { requestRows: [], dueInMs: [], callbacksDue: 0 });
    world.services = await newServices(world);
  });
  return world;
}

async function open(world: World): Promise<void> {
  const url = await (await sharedPostgres()).createMigrated();
  const database = await openDatabase({ url, log: silentLog });
  await migrate(database);
  await addWorkspace(database, "w1");
  await addKey(database, { workspaceId: "w1", id: "k1" });
  const credit = { workspaceId: "w1", amountNano: 100n * dollar, reference: "start" };
  await createLedger(database).credit(credit);
  const vendor = await startArkVendor();
  const painter = await startRecorder(json({ data: [] }));
  const catalog = taskCatalogOf(vendor, painter);
  Object.assign(world, { database, vendor, painter, catalog });
}

/** A catalog with two providers of clips at one vendor, and one of pictures. */
export function taskCatalogOf(vendor: Recorder, painter: Recorder): Catalog {
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
  return catalogIn(file);
}

async function newServices(world: World): Promise<TaskServices> {
  return {
    database: world.database,
    clock,
    log: silentLog,
    catalog: () => world.catalog,
    pools: createPools(),
    health: new Health({ clock }),
    budget: new ByteBudget(64 * 1024 * 1024),
    files: {
      ...(await openFileStore({ kind: "local" }, temporaryDirectory())),
      failure: undefined,
    },
    allowPrivateAddresses: true,
    queue: { global: 1_000, perWorkspace: 1_000 },
    retryForMs: 0,
    retentionMs: 3_600_000,
    logRequest: (row) => void world.requestRows.push(row),
    wakeRunnerAt: (ms) => void world.dueInMs.push(ms - clock.now()),
    openUpload: (upload) => openUpload(world.services.files, upload),
    wakeDeliverer: () => void (world.callbacksDue += 1),
    sweeps: () => true,
    ownsDatabase: false,
    at: () => undefined,
    timing: { ...defaultTiming, questionMs: 1_000, keepPauseMs: 20 },
    pollTroubles: createPollTroubles(),
    pollRateLimiter: createPollRateLimiter(),
    shutdown: new AbortController(),
  };
}

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
  "acme/pictures": {
    kind: "image",
    family: "task-image-1",
    prompt: "A boat",
    imageSize: "1K",
    n: 1,
    images: [],
  },
} as const;
type ModelName = keyof typeof requests;

/** The submission of a new task. */
export function submissionOf(
  { catalog }: World,
  model: ModelName,
  amountNano = dollar,
): Submission {
  const id = newId("task", clock.now());
  const { kind, family, offers } = catalog.models.get(model) as VideoModel;
  const now = new Date(clock.now()).toISOString();
  const plan = { offers, explanation: {}, constraints: openScope };
  const caller = { workspace_id: "w1", key_id: "k1", member_id: null };
  const times = {
    due_at: now,
    expires_at: new Date(clock.now() + 3_600_000).toISOString(),
    created_at: now,
    updated_at: now,
  };
  const row = {
    ...caller,
    id,
    kind,
    family,
    model,
    form: "tasks",
    request: JSON.stringify(requests[model]),
    notes: "[]",
    plan: JSON.stringify(storedPlan(plan as unknown as Parameters<typeof storedPlan>[0])),
    reserved_nano: amountNano,
    webhook_url: null,
    tags: null,
    end_user: null,
    ...times,
  };
  const hold = { id, workspaceId: "w1", keyId: "k1", keyRotation: 0, amountNano, leaseMs: 1e9 };
  return { row, hold: { ...hold, kind: "task" }, claim: undefined, uploads: [] };
}

/** A due time far in the future, so that no runner claims the task before the test has changed it. */
const notYet = "9999-01-01T00:00:00Z";

/** Creates a task that this process has leased, with changed columns. */
export async function jobOf(world: World, model: ModelName, change: object = {}): Promise<Job> {
  const { row, ...rest } = submissionOf(world, model);
  const given = { ...rest, row: { ...row, due_at: notYet } };
  const { id } = await createAcceptance(world.services).accept(given);
  const columns = Object.entries({ lease_token: "mine", due_at: row.due_at, ...change });
  const sets = columns.map(([name], at) => `${name} = $${at + 2}`);
  await world.database.query(`update tasks set ${sets.join(", ")} where id = $1`, [
    id,
    ...columns.map(([, value]) => value),
  ]);
  return rowOf(world, id);
}

/** Reads a task as a job whose lease does not end. Expects the ledger to have charged its cost once, or nothing. */
export async function rowOf({ database }: World, id: string): Promise<Job> {
  // One snapshot, because the task may end between two reads.
  const [job, charges] = await database.transaction(async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const read = (await readJob(tx, "w1", id))!;
    const entries = await tx.query<{ amount_nano: bigint }>(
      "select amount_nano from ledger_entries where reference = $1 and kind = 'charge'",
      [id],
    );
    return [read, entries] as const;
  });
  const amounts = charges.map((entry) => entry.amount_nano);
  expect({ id, charges: amounts }).toEqual({
    id,
    charges: job.costNano > 0n ? [job.costNano] : [],
  });
  return { ...job, localLease: { endMs: Infinity, endClockMs: Infinity } };
}

/** A running task that the vendor has, at the provider `one`. */
export const running = (world: World, change: object = {}): Promise<Job> =>
  jobOf(world, "acme/clip", {
    status: "running",
    provider: "one",
    credential: "default",
    upstream_id: "job-1",
    ...change,
  });

/** Lets a provider of `acme/clips` fail until its circuit opens. */
export function openCircuit({ catalog, services: { health } }: World, id: string): void {
  const offers = catalog.models.get("acme/clips")!.offers as readonly MediaOffer[];
  const offer = offers.find((one) => one.provider === id)!;
  const provider = catalog.providers.get(id)!;
  const credential = provider.credentials[0]!;
  const hurt = { hurtsHealth: true, silent: true };
  for (let tries = 0; tries < 50 && health.availability(offer, provider) !== "out"; tries += 1)
    health.unanswered({ offer, provider, credential, begunMs: health.nowMs() + tries }, hurt);
  expect(health.availability(offer, provider)).toBe("out");
}

/**
 * Gateways of a history on one database. Each can die at any moment, pause for a while, or lose the answer to a write. Their storage
 * refuses files at times.
 */
import type { manualClock } from "../../support/manual-clock.ts";
import { ByteBudget } from "../../../src/base/byte-budget.ts";
import type { Span, Tracer } from "../../../src/base/tracing.ts";
import type { Catalog } from "../../../src/catalog/index.ts";
import { openFileStore, type WatchedFiles } from "../../../src/files/index.ts";
import type { RequestRow } from "../../../src/request-log/index.ts";
import { Health } from "../../../src/routing/index.ts";
import { openDatabase, type Database } from "../../../src/storage/index.ts";
import { defaultTiming, type TaskServices } from "../../../src/tasks/engine.ts";
import { createPollRateLimiter } from "../../../src/tasks/poll-rate-limiter.ts";
import { createPollTroubles } from "../../../src/tasks/poll-troubles.ts";
import { openUpload } from "../../../src/tasks/tasks.ts";
import { createPools, type Pools } from "../../../src/upstream/index.ts";
import { addKey, addWorkspace } from "../../ledger/support.ts";
import { createLedger } from "../../support/ledger.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../../support/postgres.ts";
import { taskCatalogOf } from "../steps-support.ts";
import { startVendors, type Vendors } from "./vendor.ts";

export class Killed extends Error {}

export interface World {
  readonly database: Database;
  readonly clock: ReturnType<typeof manualClock>;
  readonly vendors: Vendors;
  readonly catalog: Catalog;
  readonly pools: Pools;
  readonly files: WatchedFiles;
  readonly requestRows: RequestRow[];
  readonly directory: string;
  /** Number of next writes that the storage refuses. */
  failingPuts: number;
}

/** Opens a world with a workspace that has money. */
export async function openWorld(clock: World["clock"]): Promise<World> {
  const url = await (await sharedPostgres()).createMigrated();
  const database = await openDatabase({ url, log: silentLog });
  await addWorkspace(database, "w1");
  await addKey(database, { workspaceId: "w1", id: "k1" });
  const credit = { workspaceId: "w1", amountNano: 10n ** 15n, reference: "start" };
  await createLedger(database).credit(credit);
  const vendors = await startVendors();
  const directory = temporaryDirectory();
  const store = await openFileStore({ kind: "local", directory }, directory);
  const files = { ...store, failure: undefined };
  const catalog = taskCatalogOf(vendors.recorder, vendors.recorder);
  const own = { files, directory, failingPuts: 0 };
  return { database, clock, vendors, catalog, pools: createPools(), requestRows: [], ...own };
}

/** One simulated gateway process. */
export interface Gateway {
  alive: boolean;
  /** Failure of its next write to the database: not made, or made but its answer lost. */
  fault: "refused" | "lost" | undefined;
  /** Milliseconds for which it has not extended its leases. */
  silentMs: number;
  /** Its current configuration. */
  catalog: Catalog;
  readonly services: TaskServices;
}

const broken = (): Error =>
  Object.assign(new Error("Connection terminated unexpectedly"), { code: "08006" });

function guardedDatabase(database: Database, gateway: Pick<Gateway, "alive" | "fault">): Database {
  async function guarded<T>(mayFail: boolean, work: () => Promise<T>): Promise<T> {
    if (!gateway.alive) throw new Killed();
    const { fault } = gateway;
    if (!mayFail || fault === undefined) return work();
    gateway.fault = undefined;
    if (fault === "lost") await work();
    throw broken();
  }
  return {
    ...database,
    query: (sql, params, options) =>
      guarded(/^\s*update tasks t? ?set (?!lease)/.test(sql), () =>
        database.query(sql, params, options),
      ),
    transaction: (work, options) => guarded(true, () => database.transaction(work, options)),
  };
}

function guardedFiles(world: World, gateway: Pick<Gateway, "alive">): WatchedFiles {
  const { files } = world;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!gateway.alive) throw new Killed();
    return work();
  };
  return {
    ...files,
    put: (...args) =>
      guarded(() => {
        if (world.failingPuts === 0) return files.put(...args);
        world.failingPuts -= 1;
        return Promise.reject(new Error("the bucket is away"));
      }),
    remove: (name) => guarded(() => files.remove(name)),
  };
}

/** Starts a simulated gateway. */
export function startGateway(world: World, retryForMs: number): Gateway {
  const { clock, catalog } = world;
  const gateway: Omit<Gateway, "services"> = {
    alive: true,
    fault: undefined,
    silentMs: 0,
    catalog,
  };
  const services: TaskServices = {
    database: guardedDatabase(world.database, gateway),
    clock,
    log: silentLog,
    catalog: () => gateway.catalog,
    pools: world.pools,
    health: new Health({ clock }),
    budget: new ByteBudget(64 * 1024 * 1024),
    files: guardedFiles(world, gateway),
    allowPrivateAddresses: true,
    queue: { global: 1_000_000, perWorkspace: 1_000_000 },
    retryForMs,
    retentionMs: 7 * 86_400_000,
    logRequest: (row) => void world.requestRows.push(row),
    wakeRunnerAt: () => undefined,
    openUpload: (upload) => openUpload(world.files, upload),
    wakeDeliverer: () => undefined,
    sweeps: () => true,
    ownsDatabase: false,
    pollTroubles: createPollTroubles(),
    pollRateLimiter: createPollRateLimiter(),
    shutdown: new AbortController(),
    at: () => undefined,
    timing: { ...defaultTiming, downloadMs: 20_000, keepPauseMs: 1 },
  };
  return Object.assign(gateway, { services });
}

/** The catalog without a provider, or with another key for it. */
export function changedCatalog(catalog: Catalog, id: string, isGone: boolean): Catalog {
  const providers = new Map(catalog.providers);
  const credentials = [{ id: "new", apiKey: "new", weight: 1 }];
  if (isGone) providers.delete(id);
  else providers.set(id, { ...providers.get(id)!, credentials });
  return { ...catalog, providers };
}

/** A tracer that marks a step's requests to vendors with the step's name. */
export function tracerOf(step: string): Tracer {
  const span = {
    isSampled: false,
    passedTo: () => step,
    set: () => undefined,
    end: () => undefined,
  };
  return { start: () => span as unknown as Span };
}

/**
 * The running gateway, put together: database, catalogue, sandbox, ledger, HTTP. Everything that exists is made here,
 * and closed here in the opposite order. design.md section 3.
 */
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ByteBudget } from "../base/byte-budget.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { Slots } from "../base/slots.ts";
import {
  createRateLimiter,
  createSpend,
  requestRow,
  type CallRecord,
  type ImageRecord,
} from "../calls/index.ts";
import type { Catalog } from "../catalog/index.ts";
import {
  createApp,
  createMetrics,
  startMetricsServer,
  stopServer,
  type MetricsAccess,
} from "../http/index.ts";
import { createLedger, type Ledger } from "../ledger/index.ts";
import { Health, type HealthRules } from "../routing/index.ts";
import { startSandbox } from "../sandbox/index.ts";
import {
  countOpenFiles,
  createRequestLog,
  migrate,
  openFileStore,
  type Database,
} from "../storage/index.ts";
import { createAuthenticator, openSecrets } from "../tenancy/index.ts";
import { createPools } from "../upstream/index.ts";
import { announceAddress } from "./address.ts";
import { openAdmin } from "./admin.ts";
import { openCatalog, sandboxWanted } from "./catalog.ts";
import { firstStart, type FirstStart } from "./first-start.ts";
import { openMedia, type TaskTestOptions } from "./media.ts";
import { openDatabaseOf } from "./database.ts";
import { logDescriptors, openFilesLimit, planDescriptors } from "./descriptors.ts";
import type { Environment } from "./environment.ts";
import { startFileSweep } from "./file-sweep.ts";

export interface GatewayOptions {
  readonly environment: Environment;
  readonly log: Log;
  readonly clock?: Clock;
  /** How long a reservation outlives a crashed process. */
  readonly holdLeaseMs?: number;
  /** Sends direct calls through the canonical form too; tests only. */
  readonly forceConversion?: boolean;
  /** When providers in trouble are left out; tests only. */
  readonly health?: HealthRules;
  /** Hooks and timing of the task engine; tests only. */
  readonly tasks?: TaskTestOptions;
  /** How often a stream is kept alive while its upstream is silent; 15 s if absent. */
  readonly keepAliveMs?: number;
  /** How long a client may take to send a request; half a minute for its headers, ten minutes in all if absent. */
  readonly receive?: {
    readonly headersMs: number;
    readonly requestMs: number;
    readonly checkMs: number;
  };
  /** Answers plain text calls without Node's HTTP, as is usual; tests only. */
  readonly bareSockets?: boolean;
}

export interface Gateway {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The sandbox's address, where it runs. */
  readonly sandboxUrl: string | undefined;
  /** The metrics' own address, where they have one. */
  readonly metricsUrl: string | undefined;
  /** What the very first start made and must be shown once. */
  readonly first: FirstStart | undefined;
  /** The catalogue in force. */
  catalog(): Catalog;
  readonly database: Database;
  readonly ledger: Ledger;
  /**
   * Stops taking calls, waits for those under way, settles, and closes everything. For `leaveMs` before that it says that it
   * is not ready and serves as ever, so that a balancer can leave it.
   */
  close(options?: { readonly leaveMs?: number }): Promise<void>;
}

const dayMs = 24 * 60 * 60 * 1000;
const holdLeaseMsDefault = 60_000;
const keepAliveMsDefault = 15_000;
const receiveDefault = { headersMs: 30_000, requestMs: 600_000, checkMs: 5_000 };
const sweepEveryMs = 10_000;
/** How long a reader of the request log waits for the rows of calls that were just answered. */
const logWaitMs = 250;

/** Starts a gateway. Whatever fails half-way is closed again before the error is thrown. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const closers: (() => Promise<void> | void)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return await build(options, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

const privateAddressesAllowed =
  "TOLLGATE_ALLOW_PRIVATE_ADDRESSES is on: callbacks, media and artifacts may reach loopback and private networks. " +
  "That is for development only";

async function build(
  options: GatewayOptions,
  closers: (() => Promise<void> | void)[],
  closeAll: () => Promise<void>,
): Promise<Gateway> {
  const { environment, log, clock = systemClock } = options;
  if (environment.allowPrivateAddresses) log.warn({}, privateAddressesAllowed);
  const sandbox = await startSandboxIfWanted(environment);
  if (sandbox) closers.push(() => sandbox.close());
  // Before the database: a mistake in the file is told at once, and leaves nothing behind.
  const catalog = await openCatalog({ environment, sandboxUrl: sandbox?.url, log });
  closers.push(() => catalog.close());
  const openFiles = openFilesLimit();
  const descriptors = planDescriptors({
    limit: openFiles,
    sandbox: sandbox !== undefined,
    asked: catalog.settings.limits.connections,
  });
  const outgoing = new Slots(descriptors.outgoing);
  const database = await openDatabaseOf(environment, { log });
  closers.push(() => database.close());
  await migrate(database);
  const secrets = await openSecrets({
    database,
    masterKey: environment.masterKey,
    dataDir: environment.dataDir,
  });
  const ledger = createLedger(database, clock);
  closers.push(() => ledger.close());
  const files = countOpenFiles(
    await openFileStore(catalog.settings.storage, environment.dataDir),
    outgoing,
  );
  closers.push(() => files.close());
  closers.push(startFileSweep({ database, files, clock, log }));
  const budget = new ByteBudget(catalog.settings.limits.bodiesUnderWayBytes);
  const health = new Health({ clock, rules: options.health });
  const pools = createPools({ log, slots: outgoing, ownOrigin: sandbox?.url });
  closers.push(() => pools.close());
  const requestLog = createRequestLog(database, log);
  closers.push(() => requestLog.flush());
  const authenticator = createAuthenticator({ database, secrets, clock, log });
  closers.push(() => authenticator.close());
  let address = "";
  const media = openMedia({
    environment,
    health,
    catalog,
    database,
    files,
    secrets,
    pools,
    requestLog,
    clock,
    log,
    tasks: options.tasks,
    ownUrl: () => address,
  });
  closers.push(() => media.close());
  const spend = createSpend(ledger, {
    database,
    clock,
    log,
    queue: catalog.settings.limits.queue,
    leaseMs: options.holdLeaseMs ?? holdLeaseMsDefault,
  });
  closers.push(() => spend.close());
  closers.push(startSweeper(ledger, log));

  let stage: "open" | "leaving" | "refusing" = "open";
  const metrics = createMetrics();
  const metricsAccess = metricsAccessOf(environment);
  const metricsServer = await startMetricsServer({ metrics, metricsAccess });
  if (metricsServer) closers.push(() => metricsServer.close());
  const finished = (record: CallRecord | ImageRecord): void => {
    metrics.observe(record);
    requestLog.add(requestRow(record));
    if (record.costNano > 0n) media.charged(record.workspaceId, record.keyId);
  };
  const shared = {
    catalog: () => catalog.current(),
    pools,
    health,
    spend,
    clock,
    log,
    finished,
    allowPrivateAddresses: environment.allowPrivateAddresses,
    keepAliveMs: options.keepAliveMs ?? keepAliveMsDefault,
  };
  const app = await createApp({
    text: { ...shared, forceConversion: options.forceConversion ?? false },
    images: {
      ...shared,
      database,
      files,
      fileUrl: (name) => media.fileUrl(name),
      retentionMs: catalog.settings.storage.retentionDays * dayMs,
    },
    database,
    ledger,
    tasks: media.tasks,
    files,
    fileUrl: (name) => media.fileUrl(name),
    authenticator,
    rates: createRateLimiter(),
    admin: await openAdmin({
      environment,
      catalog,
      database,
      secrets,
      ledger,
      clock,
      log,
      ownUrl: () => address,
      running: {
        health,
        logWritten: () =>
          Promise.race([requestLog.flush(), sleep(logWaitMs, undefined, { ref: false })]),
        callbackDue: () => media.callbackDue(),
        fileUrl: (name) => media.fileUrl(name),
      },
    }),
    metrics,
    metricsAccess,
    corsOrigins: catalog.settings.cors.origins,
    trustedProxies: environment.trustedProxies,
    log,
    bodies: {
      budget,
      textBytesMax: catalog.settings.limits.textBodyBytes,
      mediaBytesMax: catalog.settings.limits.bodyBytes,
    },
    receive: options.receive ?? receiveDefault,
    connections: {
      totalMax: descriptors.total,
      perAddressMax: descriptors.perAddress,
      refusedMax: descriptors.refused,
      unreadMs: catalog.settings.limits.connections.unreadMs,
      pendingBytesMax: catalog.settings.limits.bodiesUnderWayBytes,
    },
    bareSockets: options.bareSockets,
    ready: () => stage === "open",
    refusing: () => stage === "refusing",
  });
  closers.push(async () => {
    stage = "leaving";
    media.tasks.rest();
    if (app.server.listening) await stopServer(app.server, () => (stage = "refusing"));
    await app.close();
  });
  logDescriptors(log, openFiles, descriptors);
  await app.listen({ host: environment.host, port: environment.port });
  const { port } = app.server.address() as AddressInfo;
  const host = environment.host.includes(":") ? `[${environment.host}]` : environment.host;
  address = `http://${host}:${port}`;
  closers.push(announceAddress(environment, address));
  // Last of all: what it makes is shown once, and a start that fails after it would never show it.
  const first = await firstStart({
    database,
    secrets,
    ledger,
    clock,
    creditNano: environment.initialCreditNano,
  });
  return {
    url: address,
    sandboxUrl: sandbox?.url,
    metricsUrl: metricsServer?.url,
    first,
    catalog: () => catalog.current(),
    database,
    ledger,
    async close({ leaveMs = 0 } = {}) {
      stage = "leaving";
      if (leaveMs > 0) await sleep(leaveMs);
      await closeAll();
    },
  };
}

/** With a public address, or with loopback among the trusted proxies, the operator has said that a proxy is in front. */
function metricsAccessOf({ metrics, publicUrl, trustedProxies }: Environment): MetricsAccess {
  const behindProxy =
    publicUrl !== undefined || ["127.0.0.1", "::1"].some((one) => trustedProxies.includes(one));
  return { ...metrics, behindProxy };
}

async function startSandboxIfWanted(
  environment: Environment,
): Promise<Awaited<ReturnType<typeof startSandbox>> | undefined> {
  if (!sandboxWanted(environment)) return undefined;
  return startSandbox({ host: "127.0.0.1", port: 0 });
}

/** Voids the holds whose lease ran out: their processes died. */
function startSweeper(ledger: Ledger, log: Log): () => void {
  const sweep = (): void => {
    ledger.expireHolds().then(
      (count) => count > 0 && log.warn({ count }, "released reservations whose calls never ended"),
      (error: unknown) => log.warn({ err: error }, "the sweep of reservations failed"),
    );
  };
  sweep();
  const timer = setInterval(sweep, sweepEveryMs);
  return () => clearInterval(timer);
}

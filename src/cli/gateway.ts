/**
 * The running gateway, put together: database, catalogue, sandbox, ledger, HTTP. Everything that exists is made here,
 * and closed here in the opposite order. docs/architecture.md.
 */
import type { Server } from "node:http";
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
  leaveConnections,
  startMetricsServer,
  stopServer,
  type MetricsAccess,
} from "../http/index.ts";
import { createLedger, type Ledger } from "../ledger/index.ts";
import { Health, type HealthRules } from "../routing/index.ts";
import type { startSandbox } from "../../sandbox/index.ts";
import {
  countOpenFiles,
  createRequestLog,
  migrate,
  openFileStore,
  type Database,
  type RequestLog,
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
import { listenOn } from "./listen.ts";
import { alone, type OwnState, type WorkerRole } from "./workers/role.ts";
import { shareOf } from "./workers/share.ts";

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
  readonly fastPath?: boolean;
  /** What this process is among the workers of its gateway; alone if absent. */
  readonly role?: WorkerRole;
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
   * is not ready and serves as ever, so that a balancer can leave it. With `callsMs` another process has taken over its socket:
   * connections are left to their clients, and calls under way may take so long.
   */
  close(options?: CloseOptions): Promise<void>;
  /** What this process alone answers with. */
  readonly own: OwnState;
}

interface CloseOptions {
  readonly leaveMs?: number;
  readonly callsMs?: number;
}

const dayMs = 24 * 60 * 60 * 1000;
const holdLeaseMsDefault = 60_000;
const keepAliveMsDefault = 15_000;
const receiveDefault = { headersMs: 30_000, requestMs: 600_000, checkMs: 5_000 };
const sweepEveryMs = 10_000;
/** Clients are told that an idle connection lasts five seconds; looked at every five. */
const idleMsMax = 12_000;
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
  const { environment, log, clock = systemClock, role = alone } = options;
  const { given } = role;
  if (environment.allowPrivateAddresses) log.warn({}, privateAddressesAllowed);
  const sandbox = await startSandboxIfWanted(environment, role);
  closers.push(() => sandbox?.close());
  const sandboxUrl = sandbox?.url ?? given.sandboxUrl;
  // Before the database: a mistake in the file is told at once, and leaves nothing behind.
  const catalog = await openCatalog({ environment, sandboxUrl, log, clock });
  closers.push(() => catalog.close());
  const limits = shareOf(catalog.settings.limits, role.count);
  const openFiles = openFilesLimit();
  const descriptors = planDescriptors({
    limit: openFiles,
    sandbox: sandbox !== undefined,
    asked: limits.connections,
  });
  const outgoing = new Slots(descriptors.outgoing);
  const database = await openDatabaseOf(environment, {
    log,
    join: role.isWorker,
    connectionsMax: given.poolMax,
  });
  closers.push(() => database.close());
  await migrate(database);
  const secrets = await openSecrets({
    database,
    masterKey: environment.masterKey,
    dataDir: environment.dataDir,
  });
  const holdLeaseMs = options.holdLeaseMs ?? holdLeaseMsDefault;
  const ledger = createLedger(database, { leaseMs: holdLeaseMs });
  closers.push(() => ledger.close());
  const files = countOpenFiles(
    await openFileStore(catalog.settings.storage, environment.dataDir),
    outgoing,
  );
  closers.push(() => files.close());
  closers.push(startFileSweep({ database, files, clock, log, sweeps: role.sweeps }));
  const budget = new ByteBudget(limits.bodiesUnderWayBytes);
  const health = new Health({ clock, rules: options.health });
  const pools = createPools({ log, slots: outgoing, ownOrigin: sandboxUrl });
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
    sweeps: role.sweeps,
    ownUrl: () => address,
  });
  closers.push(() => media.close());
  const spend = createSpend(ledger, {
    database,
    log,
    queue: catalog.settings.limits.queue,
    leaseMs: holdLeaseMs,
  });
  closers.push(() => spend.close());
  closers.push(startSweeper(ledger, log, role.sweeps));

  let stage: "open" | "leaving" | "refusing" = "open";
  const metrics = createMetrics(role.joinMetrics);
  const metricsAccess = metricsAccessOf(environment);
  const metricsServer = await startMetricsServer(
    { metrics, metricsAccess },
    given.sockets?.metrics,
  );
  if (metricsServer) closers.push(() => metricsServer.close());
  const finished = (record: CallRecord | ImageRecord): void => {
    metrics.observe(record);
    requestLog.add(requestRow(record));
    if (record.costNano > 0n) media.charged(record.workspaceId, record.keyId);
  };
  const rates = createRateLimiter();
  role.shareRates(rates);
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
    rates,
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
        logWritten: () => everyLogWritten(requestLog, role),
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
      pendingBytesMax: limits.bodiesUnderWayBytes,
    },
    fastPath: options.fastPath,
    ready: () => role.ready(stage === "open"),
    leaving: () => stage !== "open",
    refusing: () => stage === "refusing",
  });
  closers.push(() => app.close());
  logDescriptors(log, openFiles, descriptors);
  address = await listenOn(app, environment, given);
  let closing: CloseOptions = {};
  closers.push(async () => {
    stage = "leaving";
    media.tasks.rest();
    await stopServer(app.server, () => (stage = "refusing"), closing.callsMs);
  });
  if (!role.isWorker) closers.push(announceAddress(environment, address));
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
    async close(options = {}) {
      stage = "leaving";
      closing = options;
      await leave(app.server, options);
      await closeAll();
    },
    own: {
      isOpen: () => stage === "open",
      measure: () => metrics.read(),
      flushLogs: () => requestLog.flush(),
    },
  };
}

/** With a public address, or with loopback among the trusted proxies, the operator has said that a proxy is in front. */
function metricsAccessOf({ metrics, publicUrl, trustedProxies }: Environment): MetricsAccess {
  const behindProxy =
    publicUrl !== undefined || ["127.0.0.1", "::1"].some((one) => trustedProxies.includes(one));
  return { ...metrics, behindProxy };
}

/** The time before the end, in which others take over. */
async function leave(server: Server, { leaveMs = 0, callsMs }: CloseOptions): Promise<void> {
  if (callsMs !== undefined) await leaveConnections(server, idleMsMax);
  if (leaveMs > 0) await sleep(leaveMs);
}

/** Waits for what was just answered, here and in the gateway's other processes. */
async function everyLogWritten(requestLog: RequestLog, role: WorkerRole): Promise<void> {
  const written = Promise.all([requestLog.flush(), role.flushLogs()]);
  await Promise.race([written, sleep(logWaitMs, undefined, { ref: false })]);
}

/** Workers share that of their supervisor. */
async function startSandboxIfWanted(
  environment: Environment,
  { isWorker }: WorkerRole,
): Promise<Awaited<ReturnType<typeof startSandbox>> | undefined> {
  if (isWorker || !sandboxWanted(environment)) return undefined;
  return (await import("../../sandbox/index.ts")).startSandbox({ host: "127.0.0.1", port: 0 });
}

/** Takes back what gateways that died had set aside, and ends holds whose lease ran out. */
function startSweeper(ledger: Ledger, log: Log, sweeps: () => boolean): () => void {
  const sweep = (): void => {
    if (!sweeps()) return;
    ledger.expire().then(
      (count) => count > 0 && log.warn({ count }, "released reservations whose calls never ended"),
      (error: unknown) => log.warn({ err: error }, "the sweep of reservations failed"),
    );
  };
  sweep();
  const timer = setInterval(sweep, sweepEveryMs);
  return () => clearInterval(timer);
}

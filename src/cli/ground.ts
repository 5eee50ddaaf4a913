/**
 * What a gateway stands on before it serves anything: sandbox, catalogue, its share of the machine, database, secrets,
 * ledger, files, connections to providers. Each is closed in the opposite order.
 */
import type { startSandbox } from "../../sandbox/index.ts";
import { ByteBudget } from "../base/byte-budget.ts";
import { systemClock } from "../base/clock.ts";
import { LoadGuard } from "../base/load-guard.ts";
import { createAccessLog } from "../base/log.ts";
import type { Proxies } from "../base/proxy.ts";
import { Slots } from "../base/slots.ts";
import { createMetrics } from "../http/index.ts";
import { createLedger } from "../ledger/index.ts";
import { openRates, type RateLimiter } from "../rates/index.ts";
import {
  countOpenFiles,
  createAnswerCache,
  createBodyLog,
  createRequestLog,
  migrate,
  openFileStore,
  openKeyClients,
  type Database,
} from "../storage/index.ts";
import { createAuthenticator, openSecrets, type Secrets } from "../tenancy/index.ts";
import { agentsThrough, createPools, loadClouds, type Pools } from "../upstream/index.ts";
import { openCatalog, sandboxWanted, type CatalogOptions, type OpenCatalog } from "./catalog.ts";
import { openDatabaseOf } from "./database.ts";
import { openFilesLimit, planDescriptors } from "./descriptors.ts";
import type { Environment } from "./environment.ts";
import type { Closers, GatewayOptions } from "./gateway-options.ts";
import { overloadedCalls } from "./gauges.ts";
import { openHealth } from "./health-peers.ts";
import { createOwnTls } from "./own-tls.ts";
import { openTelemetry } from "./telemetry.ts";
import { watchBatches } from "./watch-batches.ts";
import { openProviderHour } from "./provider-hour.ts";
import { openProxies } from "./proxies.ts";
import { alone, type WorkerRole } from "./workers/role.ts";
import { shareOf } from "./workers/share.ts";

const minuteMs = 60_000;
const privateAddressesAllowed =
  "TOLLGATE_ALLOW_PRIVATE_ADDRESSES is on: callbacks, media and artifacts may reach loopback and private networks. " +
  "That is for development only";

export type Ground = Awaited<ReturnType<typeof openGround>>;

/** Opens all of it. What was opened when something fails is in `closers`. */
export async function openGround(options: GatewayOptions, closers: Closers) {
  const { environment, log, clock = systemClock, role = alone, holdLeaseMs = minuteMs } = options;
  if (environment.allowPrivateAddresses) log.warn({}, privateAddressesAllowed);
  const sandbox = await startSandboxIfWanted(environment, role);
  closers.push(() => sandbox?.close());
  const sandboxUrl = sandbox?.url ?? role.given.sandboxUrl;
  const proxies = openProxies(environment, log, sandboxUrl);
  // Before the database: a mistake in the file is reported at once, and leaves nothing behind.
  const config = await openConfiguration({ environment, sandboxUrl, log, clock });
  const { catalog, secure } = config;
  closers.push(() => catalog.close());
  const watching = await openWatching(options, catalog, closers);
  const share = shareOfMachine(catalog, role, sandbox !== undefined);
  const outgoing = new Slots(share.descriptors.outgoing);
  const database = await openDatabaseOf(environment, {
    log,
    join: role.isWorker,
    connectionsMax: role.given.poolMax,
  });
  closers.push(() => database.close());
  await migrate(database);
  const { dataDir } = environment;
  const secrets = await openSecrets({ ...environment, database });
  await catalog.follow(database, secrets);
  const ledger = createLedger(database, { leaseMs: holdLeaseMs, watch: watchBatches(watching) });
  closers.push(() => ledger.close());
  const files = await openFiles({ catalog, proxies, dataDir, outgoing }, closers);
  const rates = openLimits(database, closers);
  const pools = createPools({ log, proxies, slots: outgoing, ownOrigin: sandboxUrl });
  closers.push(() => pools.close());
  config.useConnections(pools);
  const logs = openLogs(options, { catalog, database, secrets }, closers);
  const authenticator = openAuthenticator({ database, secrets, clock, log }, closers);
  const rules = options.health;
  const standing = await openStanding({ database, secrets, log, catalog, clock, rules }, closers);
  return {
    ...share,
    environment,
    log,
    ...watching,
    clock,
    role,
    /** The address of the sandbox that this process runs. */
    sandboxUrl: sandbox?.url,
    catalog,
    secure,
    database,
    secrets,
    ledger,
    holdLeaseMs,
    files,
    rates,
    proxies,
    pools,
    ...logs,
    authenticator,
    budget: new ByteBudget(share.limits.bodiesUnderWayBytes),
    ...standing,
  };
}

/** What is known of providers: how they are doing, and how attempts at them ended. */
async function openStanding(parts: Parameters<typeof openHealth>[0], closers: Closers) {
  const health = await openHealth(parts, closers);
  const hour = openProviderHour({ ...parts, health });
  closers.push(() => hour.close());
  return { health, hour };
}

function openAuthenticator(parts: Parameters<typeof createAuthenticator>[0], closers: Closers) {
  const authenticator = createAuthenticator(parts);
  closers.push(() => authenticator.close());
  return authenticator;
}

interface FileParts {
  readonly catalog: OpenCatalog;
  readonly proxies: Proxies;
  readonly dataDir: string;
  readonly outgoing: Slots;
}

/** Where files are kept. Agents are made for a bucket alone. */
async function openFiles({ catalog, proxies, dataDir, outgoing }: FileParts, closers: Closers) {
  const { storage } = catalog.settings;
  const agents = storage.kind === "s3" ? { agents: agentsThrough(proxies) } : {};
  const files = countOpenFiles(await openFileStore({ ...storage, ...agents }, dataDir), outgoing);
  closers.push(() => files.close());
  return files;
}

/** The configuration, and what goes by it while the gateway runs. */
async function openConfiguration(options: Omit<CatalogOptions, "onReload">) {
  const { log } = options;
  const ownTls = createOwnTls(log);
  let pools: Pools | undefined;
  const catalog = await openCatalog({
    ...options,
    onReload({ settings }) {
      if (pools) void loadClouds(pools, catalog.current().providers.values(), log);
      ownTls.follow(settings);
    },
  });
  return {
    catalog,
    secure: ownTls.open(catalog.settings),
    /** From now on clouds that a change of the file brings are loaded, over these. */
    useConnections: (made: Pools) => void (pools = made),
  };
}

/** What is counted and traced of the work. */
async function openWatching(
  { environment, log, role = alone }: GatewayOptions,
  { settings }: OpenCatalog,
  closers: Closers,
) {
  const tracing = await openTelemetry(environment.variables, settings, log);
  closers.push(() => tracing?.close());
  const metrics = createMetrics(role.joinMetrics, settings.tags.metrics);
  const load = new LoadGuard(settings.limits.roundCalls, log);
  closers.push(() => load.close());
  metrics.add(() => Promise.resolve([overloadedCalls(load)]));
  return { tracing, tracer: tracing?.tracer, metrics, load };
}

interface LogParts {
  readonly catalog: OpenCatalog;
  readonly database: Database;
  readonly secrets: Secrets;
}

/** What is written of requests: the log of calls in the database, and the lines of the access log. */
function openLogs(
  { log, accessLog: wanted }: GatewayOptions,
  { catalog, database, secrets }: LogParts,
  closers: Closers,
) {
  const requestLog = createRequestLog(database, log);
  closers.push(() => requestLog.flush());
  const clients = openKeyClients(database, log);
  closers.push(() => clients.close());
  const bodyLog = createBodyLog(database, secrets, log);
  closers.push(() => bodyLog.flush());
  const answers = createAnswerCache(database, secrets, log);
  closers.push(() => answers.flush());
  const accessLog = wanted && createAccessLog({ ...wanted, ...catalog.settings.accessLog });
  closers.push(() => accessLog?.flush());
  const flushLogs = async (): Promise<void> => {
    await Promise.all([requestLog.flush(), clients.flush()]);
  };
  return { requestLog, clients, bodyLog, answers, accessLog, flushLogs };
}

function openLimits(database: Database, closers: Closers): RateLimiter {
  const rates = openRates(database);
  closers.push(() => rates.close());
  return rates;
}

/** The limits of this process among its workers, and how its open files are shared out. */
function shareOfMachine({ settings }: OpenCatalog, { count }: WorkerRole, sandbox: boolean) {
  const limits = shareOf(settings.limits, count);
  const openFiles = openFilesLimit();
  const asked = limits.connections;
  return { limits, openFiles, descriptors: planDescriptors({ limit: openFiles, sandbox, asked }) };
}

/** Workers share that of their supervisor. */
async function startSandboxIfWanted(
  environment: Environment,
  { isWorker }: WorkerRole,
): Promise<Awaited<ReturnType<typeof startSandbox>> | undefined> {
  if (isWorker || !sandboxWanted(environment)) return undefined;
  return (await import("../../sandbox/index.ts")).startSandbox({ host: "127.0.0.1", port: 0 });
}

/**
 * Opens the resources that a gateway needs before it serves: sandbox, catalogue, its share of the machine, database, secrets, ledger,
 * files, connections to providers. They are closed in reverse order.
 */
import { availableParallelism } from "node:os";
import type { startSandbox } from "../../sandbox/index.ts";
import { ByteBudget } from "../base/byte-budget.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { minuteMs } from "../base/durations.ts";
import { LoadGuard } from "../base/load-guard.ts";
import { createAccessLog, type Log } from "../base/log.ts";
import type { Proxies } from "../base/proxy.ts";
import { Slots } from "../base/slots.ts";
import { createAnswerCache } from "../calls/index.ts";
import { countOpenFiles, filesDirectory, openFileStore, watchFiles } from "../files/index.ts";
import { createMetrics } from "../http/index.ts";
import { createLedger } from "../ledger/index.ts";
import { openRates } from "../rates/index.ts";
import { createBodyLog, createRequestLog, openKeyClients } from "../request-log/index.ts";
import {
  migrate,
  openDatabaseClock,
  orderFix,
  readsOf,
  encodingFix,
  readTextOrder,
  wrongEncoding,
  wrongOrder,
  type Database,
} from "../storage/index.ts";
import {
  checkMasterKeys,
  createAuthenticator,
  openSecrets,
  type Secrets,
} from "../tenancy/index.ts";
import { agentsThrough, createPools } from "../upstream/index.ts";
import { openCatalog, sandboxWanted, type CatalogOptions, type OpenCatalog } from "./catalog.ts";
import { watchClocks } from "./clock-watch.ts";
import { watchDatabase } from "./database-watch.ts";
import { openDatabaseOf, openReplicaOf } from "./database.ts";
import { openFilesLimit, planDescriptors } from "./descriptors.ts";
import { publicAddressProblem, type Environment } from "./environment.ts";
import type { Closers } from "./closers.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { lostLogRows, overloadedCalls } from "./gauges.ts";
import { openHealth } from "./health-peers.ts";
import { createOwnTls } from "./own-tls.ts";
import { openTelemetry } from "./telemetry.ts";
import { watchLedger } from "./watch-batches.ts";
import { openProviderHour } from "./provider-hour.ts";
import { createProviderWatch } from "./provider-watch.ts";
import { openProxies } from "./proxies.ts";
import { memoryHere, memoryOfEach, queueShares } from "./workers/memory.ts";
import { alone, type WorkerRole } from "./workers/role.ts";
import { shareOf } from "./workers/share.ts";

const privateAddressesAllowed =
  "TOLLGATE_ALLOW_PRIVATE_ADDRESSES is on: callbacks, media and artifacts may reach loopback and private networks. " +
  "That is for development only";

/** Warns of settings that are not suitable for every use. */
function warnOf(environment: Environment, log: Log): void {
  if (environment.allowPrivateAddresses) log.warn({}, privateAddressesAllowed);
  const addressProblem = publicAddressProblem(environment);
  if (addressProblem !== undefined) log.warn({}, addressProblem);
}

export type Resources = Awaited<ReturnType<typeof openResources>>;

/** Opens all resources. If one fails, those opened before it are in `closers`. */
export async function openResources(options: GatewayOptions, closers: Closers) {
  const { environment, log, clock = systemClock, role = alone, holdLeaseMs = minuteMs } = options;
  warnOf(environment, log);
  const sandbox = await startSandboxIfWanted(environment, role);
  closers.add(() => sandbox?.close());
  const sandboxUrl = sandbox?.url ?? role.given.sandboxUrl;
  const proxies = openProxies(environment, log, sandboxUrl);
  // Before the database: a mistake in the file is reported at once, and nothing was created yet.
  const config = await openConfiguration({ environment, sandboxUrl, log, clock });
  const { catalog, tls } = config;
  closers.keep(catalog);
  const watching = await openWatching(options, catalog, closers);
  const share = shareOfMachine(options, catalog, sandbox !== undefined);
  const outgoing = new Slots(share.descriptors.outgoing);
  const connectionsMax = role.given.poolMax;
  const how = { log, join: role.isWorker, connectionsMax };
  const databases = await openDatabases(environment, how, closers);
  const { database } = databases;
  const sharedClock = options.clock ?? (await openSharedClock({ database, clock, log }, closers));
  const secrets = await openSecrets({ ...environment, database });
  // Registered again, so that it is closed before the database. From here on it queries the database; closed later, it would log failed
  // queries.
  closers.keep(catalog);
  await catalog.follow(database, secrets, sharedClock);
  // The embedded database runs on the same cores as this process.
  const sharesCore = environment.databaseUrl === undefined && availableParallelism() === 1;
  const ledgerOptions = { ...watchLedger({ ...watching, log }), leaseMs: holdLeaseMs, sharesCore };
  const ledger = closers.keep(createLedger(database, ledgerOptions));
  const files = closers.keep(await openFiles({ catalog, proxies, outgoing, options }));
  const rates = closers.keep(openRates(database));
  const pools = closers.keep(createPools({ log, proxies, slots: outgoing, ownOrigin: sandboxUrl }));
  config.providerWatch.use(pools);
  const logs = openLogs(options, { ...share, catalog, database, secrets }, closers);
  watching.metrics.add(() => Promise.resolve([lostLogRows(logs.requestLog)]));
  const authenticator = closers.keep(
    createAuthenticator({ database, secrets, clock: sharedClock, log }),
  );
  const rules = options.health;
  const state = await openProviderState({ database, secrets, log, catalog, clock, rules }, closers);
  return {
    ...share,
    environment,
    log,
    ...watching,
    clock,
    /** For times that several gateways compare. */
    sharedClock,
    role,
    /** The address of the sandbox that this process runs. */
    sandboxUrl: sandbox?.url,
    catalog,
    ...tls,
    ...databases,
    secrets,
    ledger,
    holdLeaseMs,
    files,
    rates,
    proxies,
    pools,
    providerWatch: config.providerWatch,
    ...logs,
    authenticator,
    ...state,
  };
}

/**
 * Opens the database with its schema, and its replica for lists, usage and similar reads, if one is configured and usable. With an
 * unusable master key, no database is created.
 */
async function openDatabases(
  environment: Environment,
  how: Parameters<typeof openDatabaseOf>[1],
  closers: Closers,
) {
  await checkMasterKeys(environment);
  const database = closers.keep(await openDatabaseOf(environment, how));
  await migrate(database, how.log);
  const disorder = wrongOrder(await readTextOrder(database));
  if (disorder !== undefined) how.log.error({ fix: orderFix }, disorder);
  const lack = await wrongEncoding(database);
  if (lack !== undefined) how.log.error({ fix: encodingFix }, lack);
  const isOwn = environment.databaseUrl === undefined;
  closers.add(watchDatabase({ database, log: how.log, isOwn }));
  // After the migrations: an up-to-date replica has them too.
  const replica = openReplicaOf(environment, { database, log: how.log });
  closers.add(() => replica?.close());
  return { database, replica, reads: replica ?? readsOf(database) };
}

/** Opens the database's clock, and compares it with this machine's. */
async function openSharedClock(
  { database, clock, log }: { database: Database; clock: Clock; log: Log },
  closers: Closers,
): Promise<Clock> {
  const sharedClock = closers.keep(await openDatabaseClock(database));
  closers.add(watchClocks({ sharedClock, clock, log }));
  return sharedClock;
}

/** Opens the state of providers: their health, and the outcomes of attempts at them. */
async function openProviderState(parts: Parameters<typeof openHealth>[0], closers: Closers) {
  const health = await openHealth(parts, closers);
  return { health, hour: closers.keep(openProviderHour({ ...parts, health })) };
}

interface FileParts {
  readonly catalog: OpenCatalog;
  readonly proxies: Proxies;
  readonly outgoing: Slots;
  readonly options: GatewayOptions;
}

/** Opens the file store. Only a bucket needs HTTP agents. */
async function openFiles({ catalog, proxies, outgoing, options }: FileParts) {
  const { log, filesLookEveryMs: everyMs } = options;
  const { dataDir } = options.environment;
  const { storage } = catalog.settings;
  const isBucket = storage.kind === "s3";
  const agents = isBucket ? { agents: agentsThrough(proxies) } : {};
  const store = await openFileStore({ ...storage, ...agents }, dataDir);
  const place = isBucket ? `the bucket ${storage.bucket ?? ""}` : filesDirectory(dataDir);
  return watchFiles(countOpenFiles(store, outgoing), { log, place, everyMs });
}

/** Opens the configuration, and follows its changes while the gateway runs. */
async function openConfiguration(options: Omit<CatalogOptions, "onReload" | "onProviders">) {
  const { log } = options;
  const ownTls = createOwnTls(log);
  const providerWatch = createProviderWatch(log, () => catalog.current().providers.values());
  const onProviders = (): void => providerWatch.look();
  const catalog = await openCatalog({
    ...options,
    onProviders,
    onReload({ settings }) {
      onProviders();
      ownTls.follow(settings);
    },
  });
  return {
    catalog,
    tls: { ownTls, secure: ownTls.open(catalog.settings) },
    providerWatch,
  };
}

/** Opens metrics and tracing, and the overload guard that uses them. */
async function openWatching(
  { environment, log, role = alone }: GatewayOptions,
  { settings }: OpenCatalog,
  closers: Closers,
) {
  const tracing = await openTelemetry(environment.variables, settings, log);
  closers.add(() => tracing?.close());
  const metrics = createMetrics(role.joinMetrics, settings.tags.metrics);
  const underWay = (): number => metrics.inFlight.total;
  const load = closers.keep(new LoadGuard(settings.limits.roundCalls, { log, underWay }));
  metrics.add(() => Promise.resolve([overloadedCalls(load)]));
  return { tracing, tracer: tracing?.tracer, metrics, load };
}

interface LogParts {
  readonly catalog: OpenCatalog;
  readonly database: Database;
  readonly secrets: Secrets;
  readonly budget: ByteBudget;
}

/** Opens the records of requests: the call log in the database, the bodies, the response cache, and the access log. */
function openLogs(
  { log, accessLog: wanted, logGatherMs }: GatewayOptions,
  { catalog, database, secrets, budget }: LogParts,
  closers: Closers,
) {
  const requestLog = closers.keep(createRequestLog(database, log, logGatherMs));
  const clients = closers.keep(openKeyClients(database, log));
  const bodyLog = closers.flushOnClose(
    createBodyLog({
      database,
      sealing: secrets,
      log,
      room: budget.part(queueShares.keptBodies),
      gatherMs: logGatherMs,
    }),
  );
  const answers = closers.flushOnClose(
    createAnswerCache(database, secrets, log, budget.part(queueShares.cachedAnswers)),
  );
  const accessLog = wanted && createAccessLog({ ...wanted, ...catalog.settings.accessLog });
  closers.add(() => accessLog?.flush());
  const flushLogs = async (): Promise<void> => {
    await Promise.all([requestLog.flush(), clients.flush()]);
  };
  return { requestLog, clients, bodyLog, answers, accessLog, flushLogs };
}

const megabytes = (bytes: number): number => Math.floor(bytes / 2 ** 20);

/** Returns the limits of this process among its workers, and the division of its open files. */
function shareOfMachine(
  { environment, log, role = alone }: GatewayOptions,
  { settings }: OpenCatalog,
  sandbox: boolean,
) {
  const { count } = role;
  const sharing = { count, databaseUrl: environment.databaseUrl };
  const limits = shareOf(settings.limits, count, memoryOfEach(sharing, memoryHere()));
  if (limits.bodiesUnderWayBytes < shareOf(settings.limits, count).bodiesUnderWayBytes)
    log.info(
      { body_mb: megabytes(limits.bodyBytes), under_way_mb: megabytes(limits.bodiesUnderWayBytes) },
      "there is little memory: fewer and smaller bodies than usual are taken",
    );
  const openFiles = openFilesLimit();
  const asked = limits.connections;
  const descriptors = planDescriptors({ limit: openFiles, sandbox, asked });
  return { limits, openFiles, descriptors, budget: new ByteBudget(limits.bodiesUnderWayBytes) };
}

/** Starts the sandbox. Workers use that of their supervisor. */
async function startSandboxIfWanted(
  environment: Environment,
  { isWorker }: WorkerRole,
): Promise<Awaited<ReturnType<typeof startSandbox>> | undefined> {
  if (isWorker || !sandboxWanted(environment)) return undefined;
  return (await import("../../sandbox/index.ts")).startSandbox({ host: "127.0.0.1", port: 0 });
}

/**
 * Assembles the running gateway: its resources (resources.ts), its background work, and its HTTP services (http-services.ts). Everything is created
 * here, and closed here in reverse order. docs/architecture.md.
 */
import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { InFlightCalls, createImageHolds } from "../calls/index.ts";
import type { Catalog } from "../catalog/index.ts";
import { createApp, leaveConnections, startMetricsServer, stopServer } from "../http/index.ts";
import { openHooks, type Hooks } from "../hooks/index.ts";
import { type Ledger } from "../ledger/index.ts";
import { createVerifier } from "../verification/index.ts";
import { noteHookFailure, type Database } from "../storage/index.ts";
import type { Tasks } from "../tasks/index.ts";
import { announceAddress } from "./address.ts";
import { logDescriptors } from "./descriptors.ts";
import { httpServices, metricsAccessOf } from "./http-services.ts";
import type { Environment } from "./environment.ts";
import { firstStart, type FirstStart } from "./first-start.ts";
import { Closers } from "./closers.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { openResources, type Resources } from "./resources.ts";
import { gauges } from "./gauges.ts";
import { listenOn } from "./listen.ts";
import { listeningBy, ofMetrics } from "./listening-settings.ts";
import { openMedia } from "./media.ts";
import { startPresence } from "./presence.ts";
import { startSweeps } from "./sweeps.ts";
import { reload } from "./reload.ts";
import { UsageError } from "./usage-error.ts";
import { queueShares } from "./workers/memory.ts";
import type { OwnState } from "./workers/role.ts";

export type { GatewayOptions } from "./gateway-options.ts";

export interface Gateway {
  /** The address that it listens on, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The sandbox's address, if it runs. */
  readonly sandboxUrl: string | undefined;
  /** The metrics' own address, if they have one. */
  readonly metricsUrl: string | undefined;
  /** Results of the very first start, which must be shown once. */
  readonly first: FirstStart | undefined;
  /** The catalogue in force. */
  catalog(): Catalog;
  readonly database: Database;
  readonly ledger: Ledger;
  /**
   * Stops taking calls, waits for those in flight, settles, and closes everything. For `leaveMs` before that, the gateway reports that
   * it is not ready but keeps serving, so that a load balancer can remove it. With `callsMs`, another process has taken over its
   * socket: clients close the connections themselves, and calls and task steps in flight have that long. A second call without
   * `callsMs` cuts their time to the usual limit; both calls resolve at the end.
   */
  close(options?: CloseOptions): Promise<void>;
  /** Reloads the settings that can change while it runs. @throws UsageError, and nothing has changed */
  reload(environment: Environment): Promise<void>;
  /** State of this process alone. */
  readonly own: OwnState;
}

interface CloseOptions {
  readonly leaveMs?: number;
  readonly callsMs?: number;
}

/** How long to wait until cut calls are charged and recorded. A call that takes longer is still reading from its vendor. */
const recordMsMax = 5_000;
/** How long to wait for clients to disconnect. By then most had an answer that closes the connection, and idle ones were closed. */
const idleMsMax = 12_000;

/** Starts a gateway. If the start fails, closes everything opened so far before the error is thrown. */
export function startGateway(options: GatewayOptions): Promise<Gateway> {
  const closers = new Closers();
  return closers.starting(() => build(options, closers));
}

async function build(options: GatewayOptions, closers: Closers): Promise<Gateway> {
  const resources = await openResources(options, closers);
  const { environment, role, catalog, database, ledger, metrics, flushLogs } = resources;
  let address = "";
  let stage: "starting" | "open" | "leaving" | "refusing" = "starting";
  const ownUrl = (): string => address;
  const background = await openBackground(options, resources, { closers, ownUrl });
  const underWay = new InFlightCalls();
  const metricsAccess = metricsAccessOf(environment);
  const sockets = role.given.sockets;
  const metricsServer = await openMetricsServer({ metrics, metricsAccess }, sockets?.metrics);
  if (metricsServer) closers.keep(metricsServer);
  const app = await createApp(
    await httpServices({
      ...background,
      underWay,
      options,
      resources,
      metrics,
      metricsAccess,
      ownUrl,
      isReady: () => stage === "open",
      isOpen: () => stage === "starting" || stage === "open",
      isRefusing: () => stage === "refusing",
    }),
  );
  closers.add(() => app.close());
  address = await listenOn(app, { environment, settings: catalog.settings }, role);
  const callsSince = (): string => underWay.since(resources.sharedClock.now());
  const inFlight = (): number => metrics.inFlight.total;
  closers.add(afterListening(resources, { inFlight, callsSince }, options));
  const shutdown: Shutdown = { cutShort: new AbortController(), options: {}, closers };
  closers.add(async () => {
    stage = "leaving";
    background.media.tasks.stopSteps();
    const refuse = (): void => void (stage = "refusing");
    const how = { shutdown, refuse, underWay, stopMs: options.stopMs };
    await endCalls(app.server, background.media.tasks, how);
    await whenRecorded(underWay, resources);
  });
  if (!role.isWorker) closers.add(announceAddress(environment, address));
  // The last step: its results are shown once, and a start that failed after it would never show them.
  const first = await firstStart({ ...resources, creditNano: environment.initialCreditNano });
  stage = "open";
  return {
    url: address,
    sandboxUrl: resources.sandboxUrl,
    metricsUrl: metricsServer?.url,
    first,
    catalog: () => catalog.current(),
    database,
    ledger,
    close: closeOnce(shutdown, async (options) => {
      stage = "leaving";
      // Stop task steps at once: a vendor request begun now might not finish in time. Other processes take these tasks.
      background.media.tasks.stopSteps();
      await leave(app.server, options, shutdown.cutShort.signal);
    }),
    reload: (next) => reload(resources, next),
    own: { isOpen: () => stage === "open", measure: () => metrics.read(), flushLogs },
  };
}

const openMetricsServer: typeof startMetricsServer = (...given) =>
  listeningBy(ofMetrics, () => startMetricsServer(...given));

/** State of a gateway that is ending. */
interface Shutdown {
  /** Aborted when calls lose the time that `options` gave them. */
  readonly cutShort: AbortController;
  options: CloseOptions;
  readonly closers: Closers;
}

/** Closes once, after `leaving`. A later call without `callsMs` cuts the first one short. */
function closeOnce(
  shutdown: Shutdown,
  leaving: (options: CloseOptions) => Promise<void>,
): Gateway["close"] {
  let closed: Promise<void> | undefined;
  return (options = {}) => {
    if (closed !== undefined && options.callsMs === undefined) shutdown.cutShort.abort();
    if (closed !== undefined) return closed;
    shutdown.options = options;
    return (closed = leaving(options).then(() => shutdown.closers.closeAll()));
  };
}

interface EndCallsOptions {
  readonly shutdown: Shutdown;
  readonly refuse: () => void;
  readonly underWay: InFlightCalls;
  readonly stopMs: number | undefined;
}

/** Waits for calls in flight. If another process has taken over, also waits as long for task steps in flight. */
async function endCalls(
  server: Server,
  tasks: Pick<Tasks, "endWaits" | "idle">,
  { shutdown, refuse, underWay, stopMs }: EndCallsOptions,
): Promise<void> {
  const { signal } = shutdown.cutShort;
  const { callsMs } = shutdown.options;
  const answerWaiting = (): void => tasks.endWaits();
  const endStreams = (isLast: boolean): void => underWay.stop(isLast);
  const stopping = { refuse, answerWaiting, endStreams, cutShort: { signal, ms: stopMs } };
  await Promise.all([
    stopServer(server, stopping, callsMs ?? stopMs),
    callsMs !== undefined && within(callsMs, signal, tasks.idle()),
  ]);
}

/** Waits for work, at most for `ms`, or until `cutShort` aborts. */
async function within(ms: number, cutShort: AbortSignal, work: Promise<void>): Promise<void> {
  if (cutShort.aborted) return;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  cutShort.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** Waits until calls whose connections are closed are charged and logged. While this gateway is listed, an export waits for them. */
async function whenRecorded(
  underWay: InFlightCalls,
  { log, requestLog }: Pick<Resources, "log" | "requestLog">,
): Promise<void> {
  const calls = await underWay.over(recordMsMax);
  await requestLog.close();
  if (calls > 0) log.warn({ calls }, "calls that were cut did not end in time");
}

/** Starts work that no caller waits for. @returns a function that ends it */
function afterListening(
  { database, log, secrets, openFiles, descriptors, providerWatch }: Resources,
  calls: Pick<Parameters<typeof startPresence>[0], "inFlight" | "callsSince">,
  { presenceEveryMs: everyMs }: GatewayOptions,
): () => Promise<void> {
  logDescriptors(log, openFiles, descriptors);
  providerWatch.look();
  return startPresence({ database, log, secrets, ...calls, everyMs });
}

/** Opens the operator's hooks; undefined if none is configured. @throws UsageError where a module cannot be loaded */
async function openOwnHooks(
  { catalog, database, pools, clock, log, metrics, budget }: Resources,
  closers: Closers,
): Promise<Hooks | undefined> {
  try {
    const hooks = await openHooks({
      hooks: catalog.settings.hooks,
      pools,
      clock,
      log,
      room: budget.part(queueShares.hooks),
      observe: ({ name, at }, outcome, durationMs) =>
        metrics.observeHook({ hook: name, at, outcome }, durationMs),
      // The log has the failure in any case.
      note: (failure) => void noteHookFailure(database, failure).catch(() => undefined),
    });
    closers.add(() => hooks?.close());
    return hooks;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "a hook cannot be loaded");
  }
}

/** Starts the background work: tasks and callbacks, the money of calls, the sweep of reservations. */
async function openBackground(
  options: GatewayOptions,
  resources: Resources,
  { closers, ownUrl }: { readonly closers: Closers; readonly ownUrl: () => string },
) {
  const { database, log, role, catalog, holdLeaseMs } = resources;
  resources.metrics.add(gauges(resources));
  const hooks = await openOwnHooks(resources, closers);
  const media = closers.keep(
    openMedia({
      ...resources,
      clock: resources.sharedClock,
      tasks: options.tasks,
      sweeps: role.sweeps,
      ownUrl,
      hooks,
    }),
  );
  const { queue } = catalog.settings.limits;
  const holds = closers.keep(createImageHolds({ database, log, queue, leaseMs: holdLeaseMs }));
  closers.add(startSweeps(resources, options));
  const verifier = closers.keep(createVerifier(database, log));
  return { media, holds, verifier, hooks };
}

/** The time before the end, in which other processes take over. */
async function leave(
  server: Server,
  { leaveMs = 0, callsMs }: CloseOptions,
  cutShort: AbortSignal,
): Promise<void> {
  if (callsMs !== undefined) await leaveConnections(server, idleMsMax, cutShort);
  if (leaveMs > 0) await sleep(leaveMs);
}

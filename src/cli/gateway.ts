/**
 * The running gateway, put together: what it stands on (ground.ts), what works on it, and its door (door.ts). Everything
 * that exists is made here, and closed here in the opposite order. docs/architecture.md.
 */
import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { CallsUnderWay, createSpend } from "../calls/index.ts";
import { keyMistakes, type Catalog } from "../catalog/index.ts";
import { createApp, leaveConnections, startMetricsServer, stopServer } from "../http/index.ts";
import { openHooks, type Hooks } from "../hooks/index.ts";
import { type Ledger } from "../ledger/index.ts";
import { createVerifier } from "../verification/index.ts";
import { noteHookFailure, type Database } from "../storage/index.ts";
import type { Tasks } from "../tasks/index.ts";
import { loadClouds } from "../upstream/index.ts";
import { announceAddress } from "./address.ts";
import { logDescriptors } from "./descriptors.ts";
import { httpServices, metricsAccessOf } from "./door.ts";
import type { Environment } from "./environment.ts";
import { firstStart, type FirstStart } from "./first-start.ts";
import { Closers } from "./closers.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import { openGround, type Ground } from "./ground.ts";
import { gauges } from "./gauges.ts";
import { listenOn } from "./listen.ts";
import { openMedia } from "./media.ts";
import { startPresence } from "./presence.ts";
import { startSweeps } from "./sweeps.ts";
import { reload } from "./reload.ts";
import { UsageError } from "./usage-error.ts";
import { queueShares } from "./workers/memory.ts";
import type { OwnState } from "./workers/role.ts";

export type { GatewayOptions } from "./gateway-options.ts";

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
   * connections are left to their clients, and calls and steps of tasks under way may take so long. Called again without `callsMs`, they have no more
   * time than where it is called once; both calls resolve at the end.
   */
  close(options?: CloseOptions): Promise<void>;
  /** Reads again what can change while it runs. @throws UsageError, and nothing has changed */
  reload(environment: Environment): Promise<void>;
  /** What this process alone answers with. */
  readonly own: OwnState;
}

interface CloseOptions {
  readonly leaveMs?: number;
  readonly callsMs?: number;
}

/** What calls that were cut may take to be charged and recorded; longer ones go on reading from their vendors. */
const recordMsMax = 5_000;
/** Most connections have had an answer by then that closes them. Those that are idle for so long are closed between two requests. */
const idleMsMax = 12_000;

/** Starts a gateway. Whatever fails half-way is closed again before the error is thrown. */
export function startGateway(options: GatewayOptions): Promise<Gateway> {
  const closers = new Closers();
  return closers.starting(() => build(options, closers));
}

async function build(options: GatewayOptions, closers: Closers): Promise<Gateway> {
  const ground = await openGround(options, closers);
  const { environment, role, catalog, database, ledger, metrics, flushLogs } = ground;
  let address = "";
  let stage: "starting" | "open" | "leaving" | "refusing" = "starting";
  const ownUrl = (): string => address;
  const background = await openBackground(options, ground, { closers, ownUrl });
  const underWay = new CallsUnderWay();
  const metricsAccess = metricsAccessOf(environment);
  const sockets = role.given.sockets;
  const metricsServer = await startMetricsServer({ metrics, metricsAccess }, sockets?.metrics);
  if (metricsServer) closers.keep(metricsServer);
  const app = await createApp(
    await httpServices({
      ...background,
      underWay,
      options,
      ground,
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
  const callsSince = (): string => underWay.since();
  const inFlight = (): number => metrics.inFlight.total;
  closers.add(afterListening(ground, { inFlight, callsSince }, options));
  const ending: Ending = { sooner: new AbortController(), options: {}, closers };
  closers.add(async () => {
    stage = "leaving";
    background.media.tasks.rest();
    const refuse = (): void => void (stage = "refusing");
    const how = { ending, refuse, underWay, stopMs: options.stopMs };
    await endCalls(app.server, background.media.tasks, how);
    await whenRecorded(underWay, ground);
  });
  if (!role.isWorker) closers.add(announceAddress(environment, address));
  // Last of all: what it makes is shown once, and a start that fails after it would never show it.
  const first = await firstStart({ ...ground, creditNano: environment.initialCreditNano });
  stage = "open";
  return {
    url: address,
    sandboxUrl: ground.sandboxUrl,
    metricsUrl: metricsServer?.url,
    first,
    catalog: () => catalog.current(),
    database,
    ledger,
    close: closingOnce(ending, async (options) => {
      stage = "leaving";
      // At once: what is asked of a vendor meanwhile might not be done in time, and others take it.
      background.media.tasks.rest();
      await leave(app.server, options, ending.sooner.signal);
    }),
    reload: (next) => reload(ground, next),
    own: { isOpen: () => stage === "open", measure: () => metrics.read(), flushLogs },
  };
}

/** How a gateway ends. */
interface Ending {
  /** Calls have no longer the time that `options` gave them. */
  readonly sooner: AbortController;
  options: CloseOptions;
  readonly closers: Closers;
}

/** Closes once, after `leaving`. A second word that leaves calls no time of their own has the first one end sooner. */
function closingOnce(
  ending: Ending,
  leaving: (options: CloseOptions) => Promise<void>,
): Gateway["close"] {
  let closed: Promise<void> | undefined;
  return (options = {}) => {
    if (closed !== undefined && options.callsMs === undefined) ending.sooner.abort();
    if (closed !== undefined) return closed;
    ending.options = options;
    return (closed = leaving(options).then(() => ending.closers.closeAll()));
  };
}

interface EndingCalls {
  readonly ending: Ending;
  readonly refuse: () => void;
  readonly underWay: CallsUnderWay;
  readonly stopMs: number | undefined;
}

/** Waits for calls under way; where another process has taken over also for steps of tasks, which have as long. */
async function endCalls(
  server: Server,
  tasks: Pick<Tasks, "endWaits" | "idle">,
  { ending, refuse, underWay, stopMs }: EndingCalls,
): Promise<void> {
  const { signal } = ending.sooner;
  const { callsMs } = ending.options;
  const hurry = (): void => tasks.endWaits();
  const lastWords = (isLast: boolean): void => underWay.stop(isLast);
  const stopping = { refuse, hurry, lastWords, sooner: { signal, ms: stopMs } };
  await Promise.all([
    stopServer(server, stopping, callsMs ?? stopMs),
    callsMs !== undefined && within(callsMs, signal, tasks.idle()),
  ]);
}

/** Waits for work, for so long at most, or until it is to end sooner. */
async function within(ms: number, sooner: AbortSignal, work: Promise<void>): Promise<void> {
  if (sooner.aborted) return;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  sooner.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** Waits for calls whose connections are closed to be charged and logged: an export waits for them as long as this gateway is listed. */
async function whenRecorded(
  underWay: CallsUnderWay,
  { log, requestLog }: Pick<Ground, "log" | "requestLog">,
): Promise<void> {
  const calls = await underWay.over(recordMsMax);
  await requestLog.flush();
  if (calls > 0) log.warn({ calls }, "calls that were cut did not end in time");
}

/** What no caller waits for. @returns what ends it */
function afterListening(
  { database, log, secrets, openFiles, descriptors, catalog, pools }: Ground,
  calls: Pick<Parameters<typeof startPresence>[0], "inFlight" | "callsSince">,
  { presenceEveryMs: everyMs }: GatewayOptions,
): () => Promise<void> {
  logDescriptors(log, openFiles, descriptors);
  const { providers } = catalog.current();
  for (const line of keyMistakes(providers.values())) log.warn({}, line);
  void loadClouds(pools, providers.values(), log);
  return startPresence({ database, log, secrets, ...calls, everyMs });
}

/** The operator's hooks; undefined where none is configured. @throws UsageError where a module cannot be loaded */
async function openOwnHooks(
  { catalog, database, pools, clock, log, metrics, budget }: Ground,
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
      // The log has it in any case.
      note: (failure) => void noteHookFailure(database, failure).catch(() => undefined),
    });
    closers.add(() => hooks?.close());
    return hooks;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "a hook cannot be loaded");
  }
}

/** What works by itself while the gateway runs: tasks and callbacks, the money of calls, the sweep of reservations. */
async function openBackground(
  options: GatewayOptions,
  ground: Ground,
  { closers, ownUrl }: { readonly closers: Closers; readonly ownUrl: () => string },
) {
  const { database, log, role, catalog, holdLeaseMs } = ground;
  ground.metrics.add(gauges(ground));
  const hooks = await openOwnHooks(ground, closers);
  const media = closers.keep(
    openMedia({
      ...ground,
      clock: ground.sharedClock,
      tasks: options.tasks,
      sweeps: role.sweeps,
      ownUrl,
      hooks,
    }),
  );
  const { queue } = catalog.settings.limits;
  const spend = closers.keep(createSpend({ database, log, queue, leaseMs: holdLeaseMs }));
  closers.add(startSweeps(ground, options));
  const verifier = closers.keep(createVerifier(database, log));
  return { media, spend, verifier, hooks };
}

/** The time before the end, in which others take over. */
async function leave(
  server: Server,
  { leaveMs = 0, callsMs }: CloseOptions,
  sooner: AbortSignal,
): Promise<void> {
  if (callsMs !== undefined) await leaveConnections(server, idleMsMax, sooner);
  if (leaveMs > 0) await sleep(leaveMs);
}

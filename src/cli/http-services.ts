/** Assembles the services of the HTTP routes from the parts of the running gateway, as `http` expects them. */
import { dayMs } from "../base/durations.ts";
import {
  requestRow,
  type CacheOutcome,
  type CallRecord,
  type InFlightCalls,
  type ImageRecord,
  type ImageHolds,
} from "../calls/index.ts";
import type { Hooks } from "../hooks/index.ts";
import {
  uploadBudget,
  type HttpServices,
  type Metrics,
  type MetricsAccess,
} from "../http/index.ts";
import type { Verifier } from "../verification/index.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { openAdmin } from "./admin.ts";
import type { Environment } from "./environment.ts";
import type { GatewayOptions } from "./gateway-options.ts";
import type { Resources } from "./resources.ts";
import type { Media } from "./media.ts";
import type { WorkerRole } from "./workers/role.ts";

const keepAliveMsDefault = 15_000;
const receiveDefault = { headersMs: 30_000, requestMs: 600_000, checkMs: 5_000 };
/** How long a reader of the request log waits for the rows of calls that were just answered, in ms. */
const logWaitMs = 250;

interface HttpParts {
  readonly options: GatewayOptions;
  readonly resources: Resources;
  readonly media: Media;
  readonly holds: ImageHolds;
  readonly underWay: InFlightCalls;
  readonly verifier: Verifier;
  /** The operator's own hooks; undefined if there are none. */
  readonly hooks: Hooks | undefined;
  readonly metrics: Metrics;
  readonly metricsAccess: MetricsAccess;
  /** The gateway's own address, known once it listens. */
  readonly ownUrl: () => string;
  /** True if the gateway takes calls, and the workspace and key of a first start exist. */
  readonly isReady: () => boolean;
  readonly isOpen: () => boolean;
  readonly isRefusing: () => boolean;
}

/** Returns everything that the routes need. */
export async function httpServices(parts: HttpParts): Promise<HttpServices> {
  const { options, resources, media, metrics, isReady, isOpen } = parts;
  const { environment, log, accessLog, tracer, role, catalog, database, files } = resources;
  const { limits, descriptors, secure } = resources;
  const { settings } = catalog;
  return {
    ...callServices(parts),
    database,
    tasks: media.tasks,
    files,
    fileUrl: (name) => media.fileUrl(name),
    authenticator: resources.authenticator,
    rates: resources.rates,
    load: resources.load,
    admin: await adminServices(parts),
    metrics,
    metricsAccess: parts.metricsAccess,
    corsOrigins: settings.cors.origins,
    trustedProxies: environment.trustedProxies,
    clients: resources.clients,
    log,
    clock: resources.sharedClock,
    accessLog,
    tracer,
    secure,
    bodies: {
      budget: resources.budget,
      uploads: uploadBudget(),
      textBytesMax: limits.textBodyBytes,
      mediaBytesMax: limits.bodyBytes,
    },
    receive: {
      keepAliveMs: settings.server.keepAliveMs,
      ...(options.receive ?? receiveDefault),
    },
    connections: {
      totalMax: descriptors.total,
      perAddressMax: descriptors.perAddress,
      refusedMax: descriptors.refused,
      unreadMs: settings.limits.connections.unreadMs,
      pendingBytesMax: limits.bodiesUnderWayBytes,
    },
    fastPath: options.fastPath,
    consoleFolder: options.consoleFolder,
    events: options.events,
    ready: () => role.ready(isReady()),
    leaving: () => !isOpen(),
    refusing: parts.isRefusing,
  };
}

/** Returns the services of text and image calls: the shared ones, and those of each kind. */
function callServices({ options, resources, media, metrics, holds, hooks, underWay }: HttpParts) {
  const { environment, catalog, database, files, requestLog, bodyLog, pools, health, log } =
    resources;
  const { answers, ledger, sharedClock } = resources;
  const recorded = (record: CallRecord | ImageRecord): void => {
    metrics.observe(record);
    requestLog.add(requestRow(record));
    if (record.bodies) bodyLog.add({ name: record, bodies: record.bodies });
    if (record.costNano > 0n) media.charged(record.workspaceId, record.keyId);
    if (record.errorCode !== null)
      media.refused(record.workspaceId, record.keyId, record.errorCode);
  };
  const finished = (record: CallRecord | ImageRecord): void => {
    try {
      recorded(record);
    } finally {
      // Also if the record failed: exports and the process's end wait for every call in flight.
      underWay.ended(record);
    }
  };
  const shared = {
    catalog: () => catalog.current(),
    pools,
    health,
    clock: sharedClock,
    log,
    load: resources.load,
    began: (record: CallRecord | ImageRecord) => underWay.began(record),
    finished,
    hooks,
    allowPrivateAddresses: environment.allowPrivateAddresses,
    keepAliveMs: options.keepAliveMs ?? keepAliveMsDefault,
  };
  const fileUrl = (name: string): string => media.fileUrl(name);
  const retentionMs = catalog.settings.storage.retentionDays * dayMs;
  return {
    text: {
      ...shared,
      ledger,
      forceConversion: options.forceConversion ?? false,
      cache: { answers, onLookup: (outcome: CacheOutcome) => metrics.observeCache(outcome) },
    },
    images: { ...shared, holds, database, files, fileUrl, retentionMs },
  };
}

function adminServices({ resources, media, verifier, ownUrl }: HttpParts) {
  const { flushLogs, bodyLog, role, health, hour } = resources;
  return openAdmin({
    ...resources,
    clock: resources.sharedClock,
    ownUrl,
    running: {
      verifier,
      health,
      providerHour: () => hour.read(),
      logWritten: () => everyLogWritten(flushLogs, role),
      bodiesWritten: () => bodyLog.flush(),
      wakeDeliverer: () => media.wakeDeliverer(),
      cancelTask: (workspaceId, id) => media.tasks.cancel(workspaceId, id),
      fileUrl: (name) => media.fileUrl(name),
    },
  });
}

/** A public address, or loopback among the trusted proxies, means that the operator runs a proxy in front. */
export function metricsAccessOf({
  metrics,
  publicUrl,
  trustedProxies,
}: Environment): MetricsAccess {
  const behindProxy =
    publicUrl !== undefined || ["127.0.0.1", "::1"].some((one) => trustedProxies.includes(one));
  return { ...metrics, behindProxy };
}

/** Waits until the rows of calls just answered are written, here and in the gateway's other processes. */
async function everyLogWritten(own: () => Promise<void>, role: WorkerRole): Promise<void> {
  const written = Promise.all([own(), role.flushLogs()]);
  await Promise.race([written, sleep(logWaitMs, undefined, { ref: false })]);
}

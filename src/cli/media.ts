/** What image and video calls need beside the rest of the gateway: the task engine and the deliverer of callbacks. */
import type { ByteBudget } from "../base/byte-budget.ts";
import type { Clock } from "../base/clock.ts";
import { dayMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Tracer } from "../base/tracing.ts";
import type { WatchedFiles } from "../files/index.ts";
import type { Hooks } from "../hooks/index.ts";
import type { Metrics } from "../http/index.ts";
import type { RequestLog, RequestRow } from "../request-log/index.ts";
import type { Health } from "../routing/index.ts";
import type { Database } from "../storage/index.ts";
import {
  createDeliverer,
  createSender,
  createTasks,
  mediaEntryPoints,
  renderUnified,
  startSpendAlerts,
  type TaskPoint,
  type Tasks,
  type TaskTiming,
} from "../tasks/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import type { Pools } from "../upstream/index.ts";
import type { OpenCatalog } from "./catalog.ts";
import type { Environment } from "./environment.ts";

/** What a test may set of the task engine. */
export interface TaskTestOptions {
  readonly timing?: Partial<TaskTiming>;
  readonly at?: (point: TaskPoint) => void | Promise<void>;
  /** Largest video that is kept. */
  readonly videoBytesMax?: number;
  /** How often spend caps are looked at. */
  readonly alertEveryMs?: number;
  /** How often callbacks that are due are looked for unasked. */
  readonly callbackEveryMs?: number;
  /** How long the claim of a process that died keeps others from its callbacks. */
  readonly callbackLeaseMs?: number;
}

interface MediaOptions {
  readonly environment: Environment;
  readonly catalog: OpenCatalog;
  readonly database: Database;
  readonly files: WatchedFiles;
  readonly secrets: Secrets;
  readonly pools: Pools;
  readonly health: Health;
  readonly budget: ByteBudget;
  readonly requestLog: RequestLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly tracer: Tracer | undefined;
  readonly metrics: Pick<Metrics, "observeTask" | "observeCallback">;
  readonly tasks: TaskTestOptions | undefined;
  readonly hooks: Hooks | undefined;
  /** Whether this process is the one of its gateway that looks for what nobody announced. */
  readonly sweeps: () => boolean;
  /** The gateway's own address, known once it listens. */
  readonly ownUrl: () => string;
}

export interface Media {
  readonly tasks: Tasks;
  /** The address of a kept file. */
  fileUrl(name: string): string;
  /** A callback was put into the outbox. */
  callbackDue(): void;
  /** A call of this key was charged. */
  charged(workspaceId: string, keyId: string): void;
  /** A call of this key was refused with this code. */
  refused(workspaceId: string, keyId: string, code: string): void;
  close(): Promise<void>;
}

/** The code of a task's error, as the log has it. */
const codeIn = (explanation: object | undefined): string | null =>
  explanation !== undefined && "error" in explanation && typeof explanation.error === "string"
    ? explanation.error
    : null;

/** Tells the hooks of a task that has ended. */
function tellOfTask(hooks: Hooks, row: RequestRow): void {
  hooks.after({
    id: row.id,
    endpoint: mediaEntryPoints[row.protocol as keyof typeof mediaEntryPoints],
    model: row.model,
    stream: false,
    tags: { tags: row.tags, endUser: row.endUser },
    caller: { workspaceId: row.workspaceId, keyId: row.keyId ?? "", memberId: null },
    status: row.status ?? "unknown",
    httpStatus: row.httpStatus ?? 200,
    errorCode: codeIn(row.explanation),
    provider: row.provider ?? null,
    usage: row.usage,
    costNano: row.costNano ?? 0n,
    durationMs: row.durationMs ?? 0,
  });
}

/** Submits; a hard cap that refuses is told of. */
const tellingRefusals =
  (tasks: Tasks, alerts: ReturnType<typeof startSpendAlerts>): Tasks["submit"] =>
  async (input) => {
    try {
      return await tasks.submit(input);
    } catch (error) {
      const { workspaceId, keyId } = input.caller;
      if (error instanceof GatewayError) alerts.refused(workspaceId, keyId, error.code);
      throw error;
    }
  };

/** What sends callbacks, not started yet. */
function delivererOf(options: MediaOptions, fileUrl: Media["fileUrl"]) {
  const { environment, tasks: testing } = options;
  return createDeliverer({
    database: options.database,
    secrets: options.secrets,
    clock: options.clock,
    log: options.log,
    tracer: options.tracer,
    tried: (became, durationMs) => options.metrics.observeCallback(became, durationMs),
    sweeps: options.sweeps,
    timeoutMs: options.catalog.settings.webhooks.timeoutMs,
    render: (task) => renderUnified(task, fileUrl),
    send: createSender({ allowPrivate: environment.allowPrivateAddresses, ways: options.pools }),
    at: testing?.at,
    pollMs: testing?.callbackEveryMs,
    leaseMs: testing?.callbackLeaseMs,
  });
}

/** Starts the engine and the deliverer. */
export function openMedia(options: MediaOptions): Media {
  const { environment, database, clock, log, catalog, sweeps, tasks: testing } = options;
  const { settings } = catalog;
  const fileUrl = (name: string): string =>
    `${(environment.publicUrl ?? options.ownUrl()).replace(/\/+$/, "")}/files/${name}`;
  const deliverer = delivererOf(options, fileUrl);
  const alerts = startSpendAlerts({
    database,
    clock,
    log,
    sweeps,
    callbackDue: () => deliverer.wake(),
    everyMs: testing?.alertEveryMs,
  });
  const tasks = createTasks({
    ...options,
    catalog: () => catalog.current(),
    allowPrivateAddresses: environment.allowPrivateAddresses,
    ownsDatabase: environment.databaseUrl === undefined,
    queue: settings.limits.queue,
    retryForMs: settings.limits.taskRetryMs,
    retentionMs: settings.storage.retentionDays * dayMs,
    logged: (row) => {
      options.metrics.observeTask(row);
      options.requestLog.add(row);
      if (row.keyId !== undefined && row.costNano !== 0n)
        alerts.charged(row.workspaceId, row.keyId);
      if (options.hooks !== undefined) tellOfTask(options.hooks, row);
    },
    callbackDue: () => deliverer.wake(),
    timing: testing?.timing,
    videoBytesMax: testing?.videoBytesMax,
    at: testing?.at,
  });
  deliverer.start();
  return {
    tasks: { ...tasks, submit: tellingRefusals(tasks, alerts) },
    fileUrl,
    callbackDue: () => deliverer.wake(),
    charged: (workspaceId, keyId) => alerts.charged(workspaceId, keyId),
    refused: (workspaceId, keyId, code) => alerts.refused(workspaceId, keyId, code),
    async close() {
      await tasks.close();
      await alerts.close();
      await deliverer.close();
    },
  };
}

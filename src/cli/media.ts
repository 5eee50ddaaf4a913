/** Opens what only image and video calls need: the task engine and the deliverer of callbacks. */
import { dayMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import type { Hooks } from "../hooks/index.ts";
import type { RequestRow } from "../request-log/index.ts";
import {
  createDeliverer,
  createSender,
  createTasks,
  mediaEntryPoints,
  renderUnified,
  startSpendAlerts,
  type Tasks,
} from "../tasks/index.ts";
import type { TaskTestOptions } from "./gateway-options.ts";
import type { Resources } from "./resources.ts";

interface MediaOptions extends Pick<
  Resources,
  | "environment"
  | "catalog"
  | "database"
  | "files"
  | "secrets"
  | "pools"
  | "health"
  | "budget"
  | "requestLog"
  | "clock"
  | "log"
  | "tracer"
  | "metrics"
> {
  readonly tasks: TaskTestOptions | undefined;
  readonly hooks: Hooks | undefined;
  /** True if this process polls for its gateway, for work that no signal announced. */
  readonly sweeps: () => boolean;
  /** The gateway's own address, known once it listens. */
  readonly ownUrl: () => string;
}

export interface Media {
  readonly tasks: Tasks;
  /** Returns the address of a stored file. */
  fileUrl(name: string): string;
  /** Tells the deliverer that a callback was added to the outbox. */
  wakeDeliverer(): void;
  /** Tells the alerts that a call of this key was charged. */
  charged(workspaceId: string, keyId: string): void;
  /** Tells the alerts that a call of this key was refused with this code. */
  refused(workspaceId: string, keyId: string, code: string): void;
  close(): Promise<void>;
}

/** Returns the code of a task's error, as in the log. */
const codeIn = (explanation: object | undefined): string | null =>
  explanation !== undefined && "error" in explanation && typeof explanation.error === "string"
    ? explanation.error
    : null;

/** Reports a finished task to the hooks. */
function reportTaskToHooks(hooks: Hooks, row: RequestRow, memberId: string | null): void {
  hooks.after({
    id: row.id,
    endpoint: mediaEntryPoints[row.protocol as keyof typeof mediaEntryPoints],
    model: row.model,
    stream: false,
    tags: { tags: row.tags, endUser: row.endUser },
    caller: { workspaceId: row.workspaceId, keyId: row.keyId ?? "", memberId },
    status: row.status ?? "unknown",
    httpStatus: row.httpStatus ?? 200,
    errorCode: codeIn(row.explanation),
    provider: row.provider ?? null,
    usage: row.usage,
    costNano: row.costNano ?? 0n,
    durationMs: row.durationMs ?? 0,
  });
}

/** Returns `submit`, which also reports refusals by hard caps to the alerts. */
const submitWithAlerts =
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

/** Creates the deliverer of callbacks, not started yet. */
function delivererOf(options: MediaOptions, fileUrl: Media["fileUrl"]) {
  const { environment, tasks: testing } = options;
  return createDeliverer({
    database: options.database,
    secrets: options.secrets,
    clock: options.clock,
    log: options.log,
    tracer: options.tracer,
    onTry: (became, durationMs) => options.metrics.observeCallback(became, durationMs),
    sweeps: options.sweeps,
    timeoutMs: options.catalog.settings.webhooks.timeoutMs,
    render: (task) => renderUnified(task, fileUrl),
    send: createSender({
      allowPrivate: environment.allowPrivateAddresses,
      dialRoutes: options.pools,
    }),
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
    wakeDeliverer: () => deliverer.wake(),
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
    logRequest: (row, memberId) => {
      options.metrics.observeTask(row);
      options.requestLog.add(row);
      if (row.keyId !== undefined && row.costNano !== 0n)
        alerts.charged(row.workspaceId, row.keyId);
      if (options.hooks !== undefined) reportTaskToHooks(options.hooks, row, memberId);
    },
    wakeDeliverer: () => deliverer.wake(),
    timing: testing?.timing,
    videoBytesMax: testing?.videoBytesMax,
    at: testing?.at,
  });
  deliverer.start();
  return {
    tasks: { ...tasks, submit: submitWithAlerts(tasks, alerts) },
    fileUrl,
    wakeDeliverer: () => deliverer.wake(),
    charged: (workspaceId, keyId) => alerts.charged(workspaceId, keyId),
    refused: (workspaceId, keyId, code) => alerts.refused(workspaceId, keyId, code),
    async close() {
      await tasks.close();
      await alerts.close();
      await deliverer.close();
    },
  };
}

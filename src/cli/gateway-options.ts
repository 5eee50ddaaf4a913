/** The options of a gateway's start. */
import type { Clock } from "../base/clock.ts";
import type { AccessLogOptions, Log } from "../base/log.ts";
import type { HttpServices } from "../http/index.ts";
import type { HealthRules } from "../routing/index.ts";
import type { TaskPoint, TaskTiming } from "../tasks/index.ts";
import type { Environment } from "./environment.ts";
import type { WorkerRole } from "./workers/role.ts";

/** Options of the task engine for tests. */
export interface TaskTestOptions {
  readonly timing?: Partial<TaskTiming>;
  readonly at?: (point: TaskPoint) => void | Promise<void>;
  /** Largest video that is stored, in bytes. */
  readonly videoBytesMax?: number;
  /** Interval at which spend caps are checked. */
  readonly alertEveryMs?: number;
  /** Interval at which due callbacks are polled. */
  readonly callbackEveryMs?: number;
  /** How long other processes leave the callbacks of a dead process alone. */
  readonly callbackLeaseMs?: number;
}

export interface GatewayOptions {
  readonly environment: Environment;
  readonly log: Log;
  /** Writes access log lines, as configured; none if absent. */
  readonly accessLog?: Omit<AccessLogOptions, "sample"> | undefined;
  readonly clock?: Clock;
  /** Lease of a reservation, after which it expires if its process crashed; a minute if absent; tests only. */
  readonly holdLeaseMs?: number;
  /** Sends direct calls through the canonical form too; tests only. */
  readonly forceConversion?: boolean;
  /** Rules for skipping failing providers; tests only. */
  readonly health?: HealthRules;
  /** Interval of summing usage; 10 s if absent, 0: never; tests only. */
  readonly usageEveryMs?: number;
  /** Interval at which the process reports its presence; 10 s if absent; tests only. */
  readonly presenceEveryMs?: number;
  /** How long log rows and bodies wait to be written in one batch; 40 and 200 ms if absent; tests only. */
  readonly logGatherMs?: number;
  /** Interval of removing expired files; 5 s if absent; tests only. */
  readonly filesEveryMs?: number;
  /** Interval of checking the file store; 5 s if absent; tests only. */
  readonly filesLookEveryMs?: number;
  /** Interval of removing old data; a minute if absent, 0: never; tests only. */
  readonly retentionEveryMs?: number;
  /** Hooks and timing of the task engine; tests only. */
  readonly tasks?: TaskTestOptions;
  /** Interval of keep-alives on a stream whose upstream is silent; 15 s if absent; tests only. */
  readonly keepAliveMs?: number;
  /** How long a client may take to send a request; half a minute for its headers, ten minutes in all if absent; tests only. */
  readonly receive?: Omit<HttpServices["receive"], "keepAliveMs">;
  /** Serves plain text calls on the fast path, without Node's HTTP, as is the default; tests only. */
  readonly fastPath?: boolean;
  /** Folder of the built console; tests only. */
  readonly consoleFolder?: string;
  /** Polling interval and limits of event streams; tests only. */
  readonly events?: HttpServices["events"];
  /** How long calls in flight may take to end when the gateway stops; 20 s if absent; tests only. */
  readonly stopMs?: number;
  /** Role of this process among the workers of its gateway; alone if absent. */
  readonly role?: WorkerRole;
}

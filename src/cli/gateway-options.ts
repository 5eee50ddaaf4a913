/** What a gateway may be started with. */
import type { Clock } from "../base/clock.ts";
import type { AccessLogOptions, Log } from "../base/log.ts";
import type { HttpServices } from "../http/index.ts";
import type { HealthRules } from "../routing/index.ts";
import type { TaskPoint, TaskTiming } from "../tasks/index.ts";
import type { Environment } from "./environment.ts";
import type { WorkerRole } from "./workers/role.ts";

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

export interface GatewayOptions {
  readonly environment: Environment;
  readonly log: Log;
  /** Lines of requests are written, as the configuration says; none if absent. */
  readonly accessLog?: Omit<AccessLogOptions, "sample"> | undefined;
  readonly clock?: Clock;
  /** How long a reservation outlives a crashed process; a minute if absent; tests only. */
  readonly holdLeaseMs?: number;
  /** Sends direct calls through the canonical form too; tests only. */
  readonly forceConversion?: boolean;
  /** When providers in trouble are left out; tests only. */
  readonly health?: HealthRules;
  /** How often usage is summed; 10 s if absent, 0: never; tests only. */
  readonly usageEveryMs?: number;
  /** How often the process says that it is there; 10 s if absent; tests only. */
  readonly presenceEveryMs?: number;
  /** How long rows of the log, and bodies, wait for others to be written with; 40 and 200 ms if absent; tests only. */
  readonly logGatherMs?: number;
  /** How often files that are over their time go; 5 s if absent; tests only. */
  readonly filesEveryMs?: number;
  /** How often the store of files is looked at; 5 s if absent; tests only. */
  readonly filesLookEveryMs?: number;
  /** How often what is over its time goes; a minute if absent, 0: never; tests only. */
  readonly retentionEveryMs?: number;
  /** Hooks and timing of the task engine; tests only. */
  readonly tasks?: TaskTestOptions;
  /** How often a stream is kept alive while its upstream is silent; 15 s if absent; tests only. */
  readonly keepAliveMs?: number;
  /** How long a client may take to send a request; half a minute for its headers, ten minutes in all if absent; tests only. */
  readonly receive?: Omit<HttpServices["receive"], "keepAliveMs">;
  /** Answers plain text calls without Node's HTTP, as is usual; tests only. */
  readonly fastPath?: boolean;
  /** Where the console is built; tests only. */
  readonly consoleFolder?: string;
  /** How often streams of events look for what is new, and what they bound; tests only. */
  readonly events?: HttpServices["events"];
  /** How long calls under way may take to end when it stops; 20 s if absent; tests only. */
  readonly stopMs?: number;
  /** What this process is among the workers of its gateway; alone if absent. */
  readonly role?: WorkerRole;
}

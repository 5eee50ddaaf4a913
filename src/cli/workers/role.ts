/** The role of a process among the workers of its gateway. A single process, as with `--workers 1`, has all roles. */
import type { MetricFamily } from "../../base/metric-family.ts";
import type { JoinMetrics, Readiness } from "../../http/index.ts";

/** Resources that a supervisor gives its workers; all absent for a single process, which opens its own. */
export interface SupervisorResources {
  /** The gateway's address. */
  readonly url?: string | undefined;
  readonly sandboxUrl?: string | undefined;
  /** Most database connections of this process. */
  readonly poolMax?: number | undefined;
  /** Inherited descriptors to listen on; absent if the cluster module distributes connections. */
  readonly sockets?:
    | { readonly main: readonly number[]; readonly metrics?: number | undefined }
    | undefined;
}

export interface WorkerRole {
  /** True if a supervisor started this process. The supervisor then owns the database, the sandbox and the announced address. */
  readonly isWorker: boolean;
  /** Number of processes that share the port, by which limits are divided. */
  readonly count: number;
  readonly given: SupervisorResources;
  /** True if this process polls for work that no signal announced. */
  readonly sweeps: () => boolean;
  /** Returns whether the gateway takes calls; `isOpen`: whether this process does. */
  ready(isOpen: boolean): Promise<Readiness>;
  readonly joinMetrics: JoinMetrics;
  /** Makes all other processes write their rows of the request log. */
  flushLogs(): Promise<void>;
}

/** The state of one process of a gateway. */
export interface OwnState {
  /** True if it takes calls. */
  isOpen(): boolean;
  measure(): Promise<MetricFamily[]>;
  /** Writes its rows of the request log. */
  flushLogs(): Promise<void>;
}

export const alone: WorkerRole = {
  isWorker: false,
  count: 1,
  given: {},
  sweeps: () => true,
  ready: (isOpen) => Promise.resolve({ isReady: isOpen }),
  joinMetrics: (own) => own(),
  flushLogs: () => Promise.resolve(),
};

/** What a gateway's process is among the workers of its gateway; alone, as with `--workers 1`, it is all of them. */
import type { MetricFamily } from "../../base/metric-family.ts";
import type { JoinMetrics, Readiness } from "../../http/index.ts";

/** What a supervisor gives its workers; all absent for a gateway alone, which has its own. */
export interface Given {
  /** Where the gateway answers. */
  readonly url?: string | undefined;
  readonly sandboxUrl?: string | undefined;
  /** Database connections at most. */
  readonly poolMax?: number | undefined;
  /** Inherited descriptors to listen on; absent where the cluster module hands connections out. */
  readonly sockets?:
    | { readonly main: readonly number[]; readonly metrics?: number | undefined }
    | undefined;
}

export interface WorkerRole {
  /** Whether a supervisor started this process, and has what is there once: the database, the sandbox, the address. */
  readonly isWorker: boolean;
  /** How many processes share the port, and what is limited by process. */
  readonly count: number;
  readonly given: Given;
  /** Whether this process is the one that looks for work which nobody announced. */
  readonly sweeps: () => boolean;
  /** Whether the gateway takes calls, given whether this process does. */
  ready(isOpen: boolean): Promise<Readiness>;
  readonly joinMetrics: JoinMetrics;
  /** Has all other processes write their rows of the request log. */
  flushLogs(): Promise<void>;
}

/** What one process of a gateway answers with. */
export interface OwnState {
  /** Whether it takes calls. */
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

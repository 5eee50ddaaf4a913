/** Messages between a supervisor and its workers: plain data, sent as JSON. docs/operate.md "Workers". */
import type { MetricFamily } from "../../base/metric-family.ts";
import type { FirstStart } from "../first-start.ts";
import type { SupervisorResources } from "./role.ts";

/** The variable that makes a process a worker; its value is a {@link WorkerStart}. */
export const workerVariable = "TOLLGATE_WORKER_START";

/** The start parameters of a worker, in addition to the environment. */
export interface WorkerStart extends SupervisorResources {
  /** From 1; a worker that replaces a dead one has its number. */
  readonly number: number;
  readonly count: number;
  /** Options of the command line, which win over the environment. */
  readonly host: string;
  readonly port: number;
  readonly configPath: string | undefined;
}

/** Questions that a worker asks all workers through the supervisor. */
export type Question = "ready" | "metrics" | "flush";

/** How many workers take calls. */
export interface WorkersReady {
  readonly stopping: boolean;
  readonly ready: number;
  readonly of: number;
}

/** The combined answers of all workers. */
export interface Answers {
  readonly ready: WorkersReady;
  readonly metrics: MetricFamily[];
  readonly flush: null;
}

export type ToWorker =
  | {
      readonly kind: "stop";
      readonly leaveMs: number;
      /** Another process has taken over the socket: clients close the connections themselves, and long calls may end. */
      readonly replaced: boolean;
    }
  | { readonly kind: "sweeps"; readonly on: boolean }
  | { readonly kind: "question"; readonly id: number; readonly what: Question }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Answers[Question] };

export type ToSupervisor =
  | {
      readonly kind: "ready";
      readonly first: FirstStart | undefined;
      readonly metricsUrl: string | undefined;
    }
  | { readonly kind: "failed"; readonly text: string; readonly exitCode: 1 | 2 }
  | { readonly kind: "ask"; readonly id: number; readonly what: Question }
  | { readonly kind: "answer"; readonly id: number; readonly data: boolean | MetricFamily[] | null }
  | { readonly kind: "measured"; readonly families: readonly MetricFamily[] };

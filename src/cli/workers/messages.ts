/** What a supervisor and its workers tell each other. Plain data: it travels as JSON. docs/operate.md "Workers". */
import type { MetricFamily } from "../../base/metric-family.ts";
import type { FirstStart } from "../first-start.ts";
import type { Given } from "./role.ts";

/** The variable that makes a process a worker; its value is a {@link WorkerStart}. */
export const workerVariable = "TOLLGATE_WORKER_START";

/** What a worker is started with, beside the environment. */
export interface WorkerStart extends Given {
  /** From 1; a worker that takes a dead one's place has its number. */
  readonly number: number;
  readonly count: number;
  /** The command line's options win over the environment. */
  readonly host: string;
  readonly port: number;
  readonly configPath: string | undefined;
}

/** What all workers can be asked through the supervisor. */
export type Question = "ready" | "metrics" | "flush";

/** How many workers take calls. */
export interface WorkersReady {
  readonly stopping: boolean;
  readonly ready: number;
  readonly of: number;
}

/** The answer to whoever asked, made of all. */
export interface Answers {
  readonly ready: WorkersReady;
  readonly metrics: MetricFamily[];
  readonly flush: null;
}

export type ToWorker =
  | {
      readonly kind: "stop";
      readonly leaveMs: number;
      /** Another process has taken over the socket: connections are left to their clients, long calls may end. */
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

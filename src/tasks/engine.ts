/** The services that every part of the task engine uses, and the points at which a test may stop the process. docs/tasks.md. */
import type { Readable } from "node:stream";
import type { ByteBudget } from "../base/byte-budget.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Tracer } from "../base/tracing.ts";
import type { Catalog } from "../catalog/index.ts";
import type { WatchedFiles } from "../files/index.ts";
import type { QueueLimits } from "../ledger/index.ts";
import type { KeptFile } from "../media/index.ts";
import type { RequestRow } from "../request-log/index.ts";
import type { Health } from "../routing/index.ts";
import type { Database } from "../storage/index.ts";
import type { Pools } from "../upstream/index.ts";
import type { PollRateLimiter } from "./poll-rate-limiter.ts";
import type { PollTroubles } from "./poll-troubles.ts";

/**
 * The points in a task's life before and after each write and each request to a vendor. If a process dies at any of them, the task
 * ends once. It is charged once or not at all, and no vendor is asked twice. Tests stop a real process at each.
 */
export const taskPoints = [
  "submit.begin",
  "submit.accepted",
  "submit.committed",
  "ask.claimed",
  "ask.intended",
  "ask.answered",
  "ask.noted",
  "poll.begin",
  "poll.answered",
  "collect.begin",
  "collect.stored",
  "end.begin",
  "end.written",
  "end.committed",
  "callback.claimed",
  "callback.sent",
  "callback.noted",
] as const;
export type TaskPoint = (typeof taskPoints)[number];

export interface TaskServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: no traces. */
  readonly tracer?: Tracer | undefined;
  readonly catalog: () => Catalog;
  readonly pools: Pools;
  readonly health: Health;
  /** Counts the bytes of vendors' answers while they are in memory. */
  readonly budget: ByteBudget;
  readonly files: WatchedFiles;
  /** Allows callbacks, material and results at loopback and private addresses. */
  readonly allowPrivateAddresses: boolean;
  readonly queue: QueueLimits;
  /** Milliseconds from its submission for which a task is retried if no vendor takes it (`limits.task_retry_s`). */
  readonly retryForMs: number;
  /** Milliseconds for which results are kept. */
  readonly retentionMs: number;
  /** Writes an ended task to the request log. */
  readonly logRequest: (row: RequestRow, memberId: string | null) => void;
  /** Tells the runner that a step is due at this time, in Unix milliseconds. */
  readonly wakeRunnerAt: (ms: number) => void;
  /** The bytes of a caller's file; it is opened at the first read. */
  readonly openUpload: (upload: KeptFile) => Readable;
  /** Tells the deliverer of callbacks that one may be due. */
  readonly wakeDeliverer: () => void;
  /** True if this process is the sweeper of its gateway, which looks for due tasks that no signal announced. */
  readonly sweeps: () => boolean;
  /** Largest video that is kept, in bytes; 1 GiB if absent. Tests only. */
  readonly videoBytesMax?: number | undefined;
  /** True if only processes of this gateway use the database. */
  readonly ownsDatabase: boolean;
  /** Tests stop the process here. */
  readonly at: (point: TaskPoint) => void | Promise<void>;
  readonly timing: TaskTiming;
  readonly pollTroubles: PollTroubles;
  readonly pollRateLimiter: PollRateLimiter;
  /** Aborted when the engine is about to stop: a result that only this process has, and cannot store, then ends with an error. */
  readonly shutdown: AbortController;
}

export interface TaskTiming {
  /** Milliseconds until the first poll of a job; later pauses are half of the task's age, up to the dialect's own pause. */
  readonly firstPollMs: number;
  /** The length of a lease: another process takes over the steps of one that is silent for longer. */
  readonly leaseMs: number;
  /**
   * Milliseconds after its lease's end until a submission in flight counts as abandoned. Until then its process, which may have been
   * suspended or cut off, can still write the vendor's answer.
   */
  readonly abandonMs: number;
  /** Milliseconds between sweeps for due tasks that no signal announced. */
  readonly sweepMs: number;
  /** Milliseconds between searches for times that only a clock ahead of time can have written. */
  readonly mendMs: number;
  /** Milliseconds until a vendor begins to answer a poll or a cancel; the whole answer may take twice as long. */
  readonly questionMs: number;
  /** Milliseconds to fetch a result, all tries together; and to store it, if the vendor does not keep it. */
  readonly downloadMs: number;
  /** Milliseconds of pause after the first try to keep a result; each further pause is longer by as much. */
  readonly keepPauseMs: number;
  /** A vendor that says it does not know a job is believed after this many polls in a row and this many milliseconds. */
  readonly missesMin: number;
  readonly missingMs: number;
  /** Milliseconds until a task is submitted again that had to wait because the gateway is at a limit of its own. */
  readonly shortageMs: number;
  /** Milliseconds for which steps in flight may go on when the engine closes; synchronous vendors take longest. */
  readonly closeMs: number;
}

export const defaultTiming: TaskTiming = {
  firstPollMs: 500,
  leaseMs: 60_000,
  abandonMs: 300_000,
  sweepMs: 1_000,
  mendMs: 60_000,
  questionMs: 30_000,
  downloadMs: 600_000,
  keepPauseMs: 500,
  missesMin: 5,
  missingMs: 120_000,
  shortageMs: 5_000,
  closeMs: 20_000,
};

/** The channel that tells every process of ended tasks: `<workspace> <task>`. */
export const endedChannel = "task_ended";

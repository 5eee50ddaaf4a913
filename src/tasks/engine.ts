/** What every part of the task engine works with, and the moments at which a test may stop the world. docs/tasks.md. */
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
import type { PollPace } from "./poll-pace.ts";
import type { PollTroubles } from "./poll-troubles.ts";

/**
 * The moments of a task's life before and after each write and each word to a vendor. Whatever process dies at any of them,
 * the task ends once, is charged once or not at all, and no vendor is asked twice (tests stop a real process at each).
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
  /** Answers of vendors are counted in it while they are held. */
  readonly budget: ByteBudget;
  readonly files: WatchedFiles;
  /** Callbacks, material and results may be at loopback and private addresses. */
  readonly allowPrivateAddresses: boolean;
  readonly queue: QueueLimits;
  /** For how long a task that no vendor takes is asked for again (`limits.task_retry_s`). */
  readonly retryForMs: number;
  /** How long results are kept. */
  readonly retentionMs: number;
  /** Notes an ended task in the request log. */
  readonly logged: (row: RequestRow, memberId: string | null) => void;
  /** A step is due at this moment: the runner looks then. */
  readonly due: (ms: number) => void;
  /** The bytes of a caller's file, as they are read. */
  readonly openUpload: (upload: KeptFile) => Readable;
  /** Tells the deliverer of callbacks that one may be due. */
  readonly callbackDue: () => void;
  /** Whether this process is the one of its gateway that looks for what nobody announced. */
  readonly sweeps: () => boolean;
  /** Largest video that is kept; a GiB if absent. Tests only. */
  readonly videoBytesMax?: number | undefined;
  /** Whether no process but those of this gateway uses the database: it is its own. */
  readonly ownsDatabase: boolean;
  /** Tests stop the process here. */
  readonly at: (point: TaskPoint) => void | Promise<void>;
  readonly timing: TaskTiming;
  readonly pollTroubles: PollTroubles;
  readonly pollPace: PollPace;
  /** Aborted when the engine is about to be gone: what only this process has, and cannot keep, ends in words. */
  readonly ending: AbortController;
}

export interface TaskTiming {
  /** The first poll of a vendor comes this long after it took a job; each further one doubles the pause up to the dialect's own. */
  readonly firstPollMs: number;
  /** How long a process may be silent before another takes its steps over. */
  readonly leaseMs: number;
  /**
   * How long after its lease's end a request to begin a job counts as abandoned. Until then its process, which may have been
   * stopped or cut off, can still write down what the vendor answered.
   */
  readonly abandonMs: number;
  /** How often tasks that nobody announced are looked for. */
  readonly sweepMs: number;
  /** How often moments are looked for that only a clock that ran ahead can have written. */
  readonly mendMs: number;
  /** How long a vendor may think about how a job stands, or whether it stops; its answer may take as long again to come. */
  readonly questionMs: number;
  /** How long a result may take to be fetched, all tries together; and to be stored, where its vendor does not keep it. */
  readonly downloadMs: number;
  /** After the first try to keep a result; each further pause is longer by as much. */
  readonly keepPauseMs: number;
  /** A vendor that does not know its job is believed after so many polls in a row and so long. */
  readonly missesMin: number;
  readonly missingMs: number;
  /** How long a task waits that cannot be asked for now, because the gateway is at a limit of its own. */
  readonly shortageMs: number;
  /** How long steps under way may take to end when the engine closes; vendors that work while asked take longest. */
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

/** The channel on which every process hears of tasks that ended: `<workspace> <task>`. */
export const endedChannel = "task_ended";

/** Assembles the task engine: submission, reading, waiting, cancellation, and the runner that takes the steps. */
import { Readable } from "node:stream";
import type { FileStore } from "../files/index.ts";
import type { KeptFile } from "../media/index.ts";
import { retryWhileAway, reserveRetryMs } from "../storage/index.ts";
import { UploadError } from "../upstream/index.ts";
import { createAcceptance } from "./accept.ts";
import { cancelTask } from "./cancel.ts";
import { defaultTiming, type TaskServices, type TaskTiming } from "./engine.ts";
import { createKeyLocks } from "./idempotency.ts";
import { createPollRateLimiter } from "./poll-rate-limiter.ts";
import { createPollTroubles } from "./poll-troubles.ts";
import { listTasks, readTask } from "./read.ts";
import { startRunner } from "./runner.ts";
import { submitTask } from "./submit.ts";
import type { Tasks } from "./types.ts";
import { createWaiting } from "./wait.ts";

type Own =
  | "wakeRunnerAt"
  | "openUpload"
  | "timing"
  | "at"
  | "pollTroubles"
  | "pollRateLimiter"
  | "shutdown";

export interface TasksOptions extends Omit<TaskServices, Own> {
  readonly timing?: Partial<TaskTiming> | undefined;
  readonly at?: TaskServices["at"] | undefined;
}

/** Starts the engine, which then works on due tasks. */
export function createTasks(options: TasksOptions): Tasks {
  const { database, clock } = options;
  const services: TaskServices = {
    ...options,
    shutdown: new AbortController(),
    timing: { ...defaultTiming, ...options.timing },
    at: options.at ?? (() => undefined),
    wakeRunnerAt: (ms) => runner.wakeAt(ms),
    pollTroubles: createPollTroubles(),
    pollRateLimiter: createPollRateLimiter(),
    openUpload: (upload) => openUpload(options.files, upload),
  };
  const runner = startRunner(services);
  const waiting = createWaiting(
    database.signals,
    async (task) => (await readTask(database, task.workspaceId, task.id)) ?? task,
  );
  const acceptance = createAcceptance(services);
  const submitting = { services, acceptance, underWay: createKeyLocks() };
  return {
    async submit(input) {
      const result = await submitTask(submitting, input);
      if (!result.replayed) runner.wakeAt(clock.now());
      return result;
    },
    read: (workspaceId, id) => withRetries(() => readTask(database, workspaceId, id)),
    list: (workspaceId, filter) => withRetries(() => listTasks(database, workspaceId, filter)),
    cancel: (workspaceId, id) => withRetries(() => cancelTask(services, workspaceId, id)),
    wait: (task, waitMs, signal) => waiting.until(task, waitMs, signal),
    endWaits: () => waiting.close(),
    stopSteps: () => runner.stopSteps(),
    idle: () => runner.idle(),
    async close() {
      waiting.close();
      await acceptance.idle();
      await runner.close();
    },
  };
}

/** Retries for a moment while the database is away. @throws GatewayError database_unavailable */
const withRetries = <T>(work: () => Promise<T>): Promise<T> => retryWhileAway(reserveRetryMs, work);

/** The bytes of an uploaded file, which is opened at the first read. */
export function openUpload(files: FileStore, upload: KeptFile): Readable {
  async function* bytes(): AsyncGenerator<Buffer> {
    const file = await files.open(upload.name);
    if (!file) throw new UploadError("an uploaded file is not there any more", { isGone: true });
    yield* file.stream as AsyncIterable<Buffer>;
  }
  return Readable.from(bytes(), { objectMode: false });
}

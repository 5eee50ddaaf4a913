/** Writes the outcome of a submission, and when the task's next step is due. */
import { retryWhileAway, type Queryable } from "../storage/index.ts";
import type { TaskServices } from "./engine.ts";
import { dueAt, writeJob, writeRetryMs, type JobChange } from "./lease.ts";
import type { Job } from "./rows.ts";

/** Writes the outcome of a submission; the next step is due after a pause. Without a change the same offer is tried again. */
export async function nextStep(
  services: TaskServices,
  job: Job,
  pauseMs: number,
  change: JobChange = {},
): Promise<void> {
  const step = stepOf(services, job, pauseMs, change);
  await retryWhileAway(writeRetryMs(job), () => step.write(services.database));
  await step.written();
}

/** The write of a step, and the work after it. */
export function stepOf(services: TaskServices, job: Job, pauseMs: number, change: JobChange) {
  const nowMs = services.clock.now();
  const dueMs = nowMs + pauseMs;
  const attempts = JSON.stringify(job.attempts);
  const columns = { ...dueAt(dueMs), asking: false, attempts, ...change };
  return {
    /** False if nothing was written, or if an earlier try wrote it and its answer was lost. */
    write: (database: Queryable) => writeJob(database, job, columns, { nowMs }),
    async written() {
      services.wakeRunnerAt(dueMs);
      await services.at("ask.noted");
    },
  };
}

/** How a task that is being asked for goes on: what came of it is written down, and when the next step is due. */
import { persist, type Queryable } from "../storage/index.ts";
import type { TaskServices } from "./engine.ts";
import { dueAt, writeJob, writeRetryMs, type JobChange } from "./lease.ts";
import type { Job } from "./rows.ts";

/** Writes what came of asking; the next step is due after a pause. Without a change the same offer is asked once more. */
export async function nextStep(
  services: TaskServices,
  job: Job,
  pauseMs: number,
  change: JobChange = {},
): Promise<void> {
  const step = stepOf(services, job, pauseMs, change);
  await persist(writeRetryMs(job), () => step.write(services.database));
  await step.written();
}

/** What a step writes, and what follows once it is there. */
export function stepOf(services: TaskServices, job: Job, pauseMs: number, change: JobChange) {
  const nowMs = services.clock.now();
  const dueMs = nowMs + pauseMs;
  const attempts = JSON.stringify(job.attempts);
  const columns = { ...dueAt(dueMs), asking: false, attempts, ...change };
  return {
    /** False when nothing was written, or by an earlier try whose answer was lost. */
    write: (database: Queryable) => writeJob(database, job, columns, { nowMs }),
    async written() {
      services.due(dueMs);
      await services.at("ask.noted");
    },
  };
}

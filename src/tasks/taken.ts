/** Records that a vendor has taken a task, before anything else is done. */
import { retryWhileAway } from "../storage/index.ts";
import { endTask, failed } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { writeRetryMs } from "./lease.ts";
import { stepOf } from "./next-step.ts";
import { uncertain } from "./not-taken.ts";
import type { Job } from "./rows.ts";
import { cancelOrphanedJob, tasksWithJob, logDuplicateJob, type TakenJob } from "./orphaned-job.ts";

/** Records the vendor's id of the job, before anything else is done. */
export async function taken(
  services: TaskServices,
  job: Job,
  { target, upstreamId }: Pick<TakenJob, "target"> & Partial<TakenJob>,
): Promise<void> {
  if (upstreamId === undefined) {
    await endTask(services, job, failed(uncertain()));
    return;
  }
  const taking = { target, upstreamId };
  const written = await writeTaken(services, job, taking);
  if (written === "lost") return cancelOrphanedJob(services, job, taking);
  if (written === "written") return;
  logDuplicateJob(services, job, taking, written);
  await endTask(services, job, failed(uncertain("it names no job that has just begun")));
}

/**
 * Records which task has the job. Two running tasks never have one job, not even on two gateways: the writers take turns, and the
 * second one gets the holders. Otherwise both would get one result, perhaps of another workspace, and each would be charged for it.
 */
async function writeTaken(services: TaskServices, job: Job, taking: TakenJob) {
  const { provider, credential } = taking.target;
  const { upstreamId } = taking;
  const leftMs = job.expiresAt.getTime() - services.clock.now();
  const change = { status: "running", upstream_id: upstreamId } as const;
  const step = stepOf(services, job, Math.min(services.timing.firstPollMs, leftMs), change);
  const outcome = await retryWhileAway(writeRetryMs(job), () =>
    services.database.transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [
        `job ${provider.id} ${credential.id} ${upstreamId}`,
      ]);
      const holders = await tasksWithJob(tx, job, taking);
      if (holders.length > 0) return holders;
      return (await step.write(tx)) ? "written" : "lost";
    }),
  );
  await step.written();
  return outcome;
}

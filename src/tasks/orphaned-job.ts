/**
 * A vendor's job for a task that has meanwhile ended without it: its process was silent for too long, and the outcome
 * was reported to the caller as unknown. The gateway asks the vendor to stop, and logs the job for the operator. T81, T83.
 */
import type { KeyedCandidate } from "../attempts/index.ts";
import type { Queryable } from "../storage/index.ts";
import { AskFailure } from "../upstream/index.ts";
import { askAbout } from "./attempt.ts";
import type { TaskServices } from "./engine.ts";
import { readJob } from "./read.ts";
import type { Job } from "./rows.ts";

/** Cancels the vendor's job `upstreamId`, unless the task has it after all: the answer to an earlier write may have been lost. */
export async function cancelOrphanedJob(
  services: TaskServices,
  job: Job,
  taken: TakenJob,
): Promise<void> {
  const { target, upstreamId } = taken;
  const known = await readJob(services.database, job.workspaceId, job.id);
  if (known?.upstreamId === upstreamId) return;
  // If another task has the job, only that task may end it.
  const holders = await tasksWithJob(services.database, job, taken);
  if (holders.length > 0) return logDuplicateJob(services, job, taken, holders);
  const canceled = await cancelAtVendor(services, job, taken);
  services.log.error(
    { task: job.id, provider: target.provider.id, upstream_id: upstreamId, canceled },
    "a provider took a task after it had been given up; the provider may charge for that job",
  );
}

/** The same for a synchronous vendor: it has answered with the result, so there is nothing to cancel. */
export function logOrphanedResult(
  { log }: TaskServices,
  { id }: Job,
  { provider }: KeyedCandidate,
): void {
  log.error(
    { task: id, provider: provider.id },
    "a provider made the result of a task after it had been given up; the provider may charge for it",
  );
}

/** Asks the vendor to stop the job; true if it confirms that. */
export async function cancelAtVendor(
  services: TaskServices,
  job: Job,
  { target, upstreamId }: TakenJob,
): Promise<boolean> {
  const { dialect, provider, credential } = target;
  if (!dialect.cancel || !dialect.readCancel) return false;
  try {
    const request = dialect.cancel(provider, credential.apiKey, upstreamId);
    const { status, body } = await askAbout(services, job, target, request);
    return dialect.readCancel(status, body, upstreamId) === "canceled";
  } catch (error) {
    if (error instanceof AskFailure) return false;
    throw error;
  }
}

/** A vendor's job, for a task to record. */
export interface TakenJob {
  readonly target: KeyedCandidate;
  readonly upstreamId: string;
}

/** Another task that runs and has the same job. */
interface TaskWithJob {
  readonly id: string;
  readonly workspaceId: string;
}

/** The running tasks that have the vendor's job already. Ended tasks do not count: a vendor may use their ids again. */
export function tasksWithJob(
  database: Queryable,
  { id, workspaceId }: Job,
  { target: { provider, credential }, upstreamId }: TakenJob,
): Promise<TaskWithJob[]> {
  return database.query<TaskWithJob>(
    `select id, workspace_id as "workspaceId" from tasks
     where due_at is not null and upstream_id = $1 and provider = $2 and credential = $3 and (workspace_id, id) <> ($4, $5)`,
    [upstreamId, provider.id, credential.id, workspaceId, id],
    { name: "tasks_shared_job" },
  );
}

/** Logs for the operator that a vendor answered a new task with the job of other tasks. */
export function logDuplicateJob(
  { log }: TaskServices,
  { id, workspaceId }: Job,
  { target, upstreamId }: TakenJob,
  holders: readonly TaskWithJob[],
): void {
  log.error(
    {
      task: id,
      provider: target.provider.id,
      upstream_id: upstreamId,
      others: holders.map((other) => other.id),
      across_workspaces: holders.some((other) => other.workspaceId !== workspaceId),
    },
    "a provider answered a new task with the job of another one; the new one has failed, and the provider may charge for it",
  );
}

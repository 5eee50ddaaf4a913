/**
 * A job that a vendor took for a task that has meanwhile ended without it: its process was silent for too long, and the caller
 * has been told that the outcome is unknown. The vendor is told to stop, and the operator which job that was. T81, T83.
 */
import type { KeyedCandidate } from "../attempts/index.ts";
import { AskFailure } from "../upstream/index.ts";
import { askAbout } from "./attempt.ts";
import type { TaskServices } from "./engine.ts";
import { readJob } from "./read.ts";
import type { Job } from "./rows.ts";

/** Deals with the vendor's job `upstreamId`, unless the task has it after all: the answer to an earlier write may have been lost. */
export async function endStray(
  services: TaskServices,
  job: Job,
  { target, upstreamId }: { readonly target: KeyedCandidate; readonly upstreamId: string },
): Promise<void> {
  const known = await readJob(services.database, job.workspaceId, job.id);
  if (known?.upstreamId === upstreamId) return;
  const canceled = await cancelAt(services, job, { target, upstreamId });
  services.log.error(
    { task: job.id, provider: target.provider.id, upstream_id: upstreamId, canceled },
    "a provider took a task after it had been given up; the provider may charge for that job",
  );
}

/** The same of a vendor that works while it is asked: it has answered with the result, and there is nothing to cancel. */
export function tellStray({ log }: TaskServices, { id }: Job, { provider }: KeyedCandidate): void {
  log.error(
    { task: id, provider: provider.id },
    "a provider made the result of a task after it had been given up; the provider may charge for it",
  );
}

async function cancelAt(
  services: TaskServices,
  job: Job,
  { target, upstreamId }: { readonly target: KeyedCandidate; readonly upstreamId: string },
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

/**
 * A vendor that names a new job as one of another task that runs: both would get one result, and be charged for it. Whose it is nobody
 * can tell here, so the operator is told; the tasks go on. What fails here is no fault of the task's.
 */
export async function tellShared(
  { database, log }: TaskServices,
  { id, workspaceId }: Job,
  { target, upstreamId }: { readonly target: KeyedCandidate; readonly upstreamId: string },
): Promise<void> {
  const { provider, credential } = target;
  const others = await database
    .query<{ id: string; workspace_id: string }>(
      `select id, workspace_id from tasks
       where due_at is not null and upstream_id = $1 and provider = $2 and credential = $3 and (workspace_id, id) <> ($4, $5)`,
      [upstreamId, provider.id, credential.id, workspaceId, id],
      { name: "tasks_shared_job" },
    )
    .catch(() => []);
  if (others.length === 0) return;
  log.error(
    {
      task: id,
      provider: provider.id,
      upstream_id: upstreamId,
      others: others.map((other) => other.id),
      across_workspaces: others.some((other) => other.workspace_id !== workspaceId),
    },
    "a provider gave two tasks the same job: they may get the same result, and each is charged",
  );
}

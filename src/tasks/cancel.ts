/**
 * Cancellation: a queued task ends at once; a task at a vendor ends only if that vendor confirms that it stops.
 * docs/decisions.md "Cancel"; TASK-46; T82.
 */
import { GatewayError } from "../base/errors.ts";
import { getOrCreate, memoizeByObject } from "../base/memoize.ts";
import { takenTarget } from "./attempt.ts";
import { endTask } from "./end.ts";
import type { TaskServices } from "./engine.ts";
import { poll } from "./poll-step.ts";
import { readJob, readTask } from "./read.ts";
import type { Job } from "./rows.ts";
import { isTerminal } from "./states.ts";
import { cancelAtVendor } from "./orphaned-job.ts";
import type { Task } from "./types.ts";

const notCancelable = (why: string) =>
  new GatewayError("task_not_cancelable", why, { shouldRetry: false });

/** Milliseconds in which a submission in flight usually ends; then the task can be canceled at the vendor. */
const settleMs = 3_000;
const lookAgainMs = 50;

/**
 * The cancellations under way, by task. A caller may send any number, and each would ask the vendor up to three times, beside the limit of
 * polls. The vendor would then refuse the account, and so the polls of all others.
 */
const underWayOf = memoizeByObject((_services: TaskServices) => new Map<string, Promise<Task>>());

/**
 * Cancels a task of the workspace; a cancellation of the same task that is under way has the same outcome.
 * @throws GatewayError `task_not_found`, `task_not_cancelable`
 */
export function cancelTask(services: TaskServices, workspaceId: string, id: string): Promise<Task> {
  const underWay = underWayOf(services);
  return getOrCreate(underWay, `${workspaceId} ${id}`, (name) =>
    cancelOnce(services, workspaceId, id).finally(() => underWay.delete(name)),
  );
}

/** If the task changes in the same moment, it is read again, for a while. */
async function cancelOnce(services: TaskServices, workspaceId: string, id: string): Promise<Task> {
  const deadlineMs = performance.now() + settleMs;
  for (;;) {
    const job = await readJob(services.database, workspaceId, id);
    if (!job) throw new GatewayError("task_not_found", "There is no such task.");
    if (job.status === "canceled") return job;
    if (isTerminal(job.status)) throw notCancelable(`The task has ended: it is ${job.status}.`);
    if (!job.asking && (await cancelSeen(services, job))) {
      const task = await readTask(services.database, workspaceId, id);
      if (task) return task;
    }
    if (performance.now() > deadlineMs)
      throw notCancelable("A provider is being asked for this task just now.");
    await new Promise((resume) => setTimeout(resume, lookAgainMs));
  }
}

/** Cancels a task in the state that was read; false if it has changed since. @throws GatewayError `task_not_cancelable` */
async function cancelSeen(services: TaskServices, job: Job): Promise<boolean> {
  if (job.upstreamId !== null && !(await vendorConfirms(services, job)))
    throw notCancelable("The provider works on this task and did not confirm that it stops.");
  const error = { code: "canceled", message: "The task was canceled." };
  return endTask(services, job, { status: "canceled", error }, { ifUnchanged: true });
}

/**
 * Asks the vendor to cancel the job, by the vendor's id (T82). The vendor must first say that the job is still running: if it is
 * done, a vendor may delete the result and call that a successful cancel. If the state cannot be read now,
 * the job may be done.
 */
async function vendorConfirms(services: TaskServices, job: Job): Promise<boolean> {
  const target = takenTarget(services, job);
  if (target?.dialect.cancel === undefined) return false;
  const { state } = await poll(services, job, target);
  if (state === "canceled") return true;
  if (state !== "pending") return false;
  if (await cancelAtVendor(services, job, { target, upstreamId: job.upstreamId ?? "" }))
    return true;
  // Another cancellation may have come first, or the vendor's answer was lost.
  return (await poll(services, job, target)).state === "canceled";
}

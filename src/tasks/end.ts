/**
 * The end of a task: one transaction writes the final state, the charge or release, and the callback, so that they always agree.
 * docs/tasks.md; Requirements: TASK, T58, T79, T80, T83.
 */
import { settleIn } from "../ledger/index.ts";
import type { MediaPrice } from "../catalog/index.ts";
import { storedPrice, type MediaUsage } from "../media/index.ts";
import { retryWhileAway, type Queryable } from "../storage/index.ts";
import { endedChannel, type TaskServices } from "./engine.ts";
import { writeJob, writeRetryMs } from "./lease.ts";
import type { Job } from "./rows.ts";
import type { TerminalStatus } from "./states.ts";
import type { Artifact, TaskError } from "./types.ts";
import { enqueueCallback } from "./webhooks/index.ts";

/** How a task ends. */
export type TaskEnd =
  | {
      readonly status: "succeeded";
      readonly usage: MediaUsage;
      /** True if the vendor reported the usage. */
      readonly isReported: boolean;
      readonly costNano: bigint;
      /** The price by which the cost was computed. */
      readonly price: MediaPrice;
      readonly artifacts: readonly Artifact[];
    }
  | { readonly status: Exclude<TerminalStatus, "succeeded">; readonly error: TaskError };

/** The end of a task that no vendor took, or whose outcome is unknown. */
export const failed = (error: TaskError) => ({ status: "failed", error }) as const;

interface EndOptions {
  /** True if the caller ends it: whichever process holds it, if it is unchanged since it was read. */
  readonly ifUnchanged?: boolean;
}

/** Ends a task; false if it had ended before, or if this process no longer holds it: then nothing has changed. */
export async function endTask(
  services: TaskServices,
  job: Job,
  ending: TaskEnd,
  options: EndOptions = {},
): Promise<boolean> {
  await services.at("end.begin");
  const nowMs = services.clock.now();
  const ended = await retryWhileAway(writeRetryMs(job), (attempt) =>
    services.database.transaction(async (tx) => {
      const written = await writeJob(tx, job, changeOf(job, ending, nowMs), { nowMs, ...options });
      // The answer to an earlier commit may have been lost; then the work after the end is still to be done.
      if (!written) return attempt > 1 && (await hasEnded(tx, job, { ending, nowMs }));
      await keepFiles(services, tx, { job, ending, nowMs });
      if (job.webhookUrl !== null) {
        await enqueueCallback(tx, {
          workspaceId: job.workspaceId,
          taskId: job.id,
          type: `task.${ending.status}`,
          url: job.webhookUrl,
          nowMs,
        });
      }
      await services.database.signals.publish(endedChannel, `${job.workspaceId} ${job.id}`, tx);
      // Last, because the workspace's account stays locked until the commit.
      await settle(tx, job, ending);
      await services.at("end.written");
      return true;
    }),
  );
  if (!ended) return false;
  await services.at("end.committed");
  if (job.webhookUrl !== null) services.wakeDeliverer();
  job.span?.set({ "tollgate.status": ending.status });
  services.logRequest(logRow(job, ending, nowMs), job.memberId);
  return true;
}

/** True if this very end is the one that the task has. */
async function hasEnded(
  tx: Queryable,
  { workspaceId, id }: Job,
  { ending, nowMs }: Pick<Ended, "ending" | "nowMs">,
): Promise<boolean> {
  const rows = await tx.query(
    "select id from tasks where workspace_id = $1 and id = $2 and status = $3 and finished_at = $4",
    [workspaceId, id, ending.status, new Date(nowMs)],
  );
  return rows.length > 0;
}

function changeOf(job: Job, ending: TaskEnd, nowMs: number) {
  const common = {
    status: ending.status,
    finished_at: new Date(nowMs),
    due_at: null,
    lease_token: null,
    lease_until: null,
    asking: false,
    attempts: JSON.stringify(job.attempts),
  };
  if (ending.status !== "succeeded") return { ...common, error: JSON.stringify(ending.error) };
  return {
    ...common,
    cost_nano: ending.costNano,
    usage: JSON.stringify(ending.usage),
    artifacts: JSON.stringify(ending.artifacts),
  };
}

async function settle(tx: Queryable, job: Job, ending: TaskEnd): Promise<void> {
  const charge = ending.status === "succeeded" ? ending.costNano : null;
  const settled = await settleIn(tx, job, charge);
  // A hold that expired is charged late, because the result is to be paid. Only a clock jump can cause that: its lease outlives the
  // task by a month.
  if (charge !== null && !(settled?.isNew === true && settled.kind === "charge"))
    throw new Error(`a task's hold is gone: ${settled?.kind ?? "unknown"}`);
}

interface Ended {
  readonly job: Job;
  readonly ending: TaskEnd;
  readonly nowMs: number;
}

/** Results are kept from now on; the caller's uploads, and results of failed attempts, expire now. */
async function keepFiles(services: TaskServices, tx: Queryable, { job, ending, nowMs }: Ended) {
  const kept = ending.status === "succeeded" ? ending.artifacts.map(({ name }) => name) : [];
  await tx.query(
    `update files set expires_at = case when name = any($3) then $4::timestamptz else $5::timestamptz end
     where workspace_id = $1 and task_id = $2`,
    [job.workspaceId, job.id, kept, new Date(nowMs + services.retentionMs), new Date(nowMs)],
  );
}

/** The parameter that a stored note is about. A caller's name may contain a colon. */
const paramOf = (note: string): string => note.slice(0, note.indexOf(": "));

/** The task's row in the request log, which explains every call (BILL-24, VID-28). */
function logRow(job: Job, ending: TaskEnd, nowMs: number) {
  return {
    workspaceId: job.workspaceId,
    id: job.id,
    createdAt: job.createdAt,
    keyId: job.keyId,
    model: job.model,
    provider: job.provider ?? undefined,
    protocol: job.form,
    status: ending.status,
    httpStatus: 200,
    usage: ending.status === "succeeded" ? ending.usage : undefined,
    usageSource:
      ending.status !== "succeeded" ? undefined : ending.isReported ? "upstream" : "estimated",
    costNano: ending.status === "succeeded" ? ending.costNano : 0n,
    price: ending.status === "succeeded" ? storedPrice(ending.price) : undefined,
    durationMs: nowMs - job.createdAt.getTime(),
    dropped: [...new Set(job.notes.map(paramOf))],
    notes: job.notes,
    attempts: job.attempts.map(({ key_hash: _hash, ...attempt }) => attempt),
    explanation: {
      plan: job.explanation,
      reserved_nano: job.reservedNano.toString(),
      error: ending.status === "succeeded" ? null : ending.error.code,
      hooks: job.hooks,
    },
    errorMessage: ending.status === "succeeded" ? undefined : ending.error.message,
    tags: job.tags ?? undefined,
    endUser: job.endUser ?? undefined,
  };
}

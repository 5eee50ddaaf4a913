/**
 * Work that was done while its caller waited, as a task that has ended: the edit form 2 of images names its task, and whoever
 * asks for that finds what was made. Requirements: IMG (`gw.task_id`); EDIT2-33.
 */
import { noteSentences, type Note } from "../base/notes.ts";
import type { MediaForm, MediaUsage } from "../media/index.ts";
import type { Queryable } from "../storage/index.ts";
import type { Caller } from "../tenancy/index.ts";
import type { PreparedMedia } from "./prepare.ts";
import { insertRow, storedPlan } from "./rows.ts";
import type { Artifact, TaskAttempt } from "./types.ts";

export interface Finished {
  readonly id: string;
  readonly caller: Caller;
  readonly form: MediaForm;
  readonly prepared: PreparedMedia;
  readonly notes: readonly Note[];
  readonly attempts: readonly TaskAttempt[];
  readonly usage: MediaUsage;
  readonly costNano: bigint;
  readonly artifacts: readonly Artifact[];
  readonly startedMs: number;
  readonly nowMs: number;
}

/** Adds the task of finished work, in the transaction that charges it. */
export async function insertFinished(tx: Queryable, finished: Finished): Promise<void> {
  const { caller, prepared, nowMs } = finished;
  const now = new Date(nowMs);
  const last = finished.attempts.at(-1);
  await insertRow(tx, {
    workspace_id: caller.workspaceId,
    id: finished.id,
    key_id: caller.keyId,
    member_id: caller.memberId,
    kind: prepared.kind,
    family: prepared.family,
    model: prepared.model,
    form: finished.form,
    status: "succeeded",
    request: JSON.stringify(prepared.request),
    notes: JSON.stringify(noteSentences(finished.notes)),
    plan: JSON.stringify(storedPlan(prepared.plan)),
    attempts: JSON.stringify(finished.attempts),
    provider: last?.provider ?? null,
    credential: last?.credential ?? null,
    upstream_model: last?.upstream_model ?? null,
    reserved_nano: prepared.boundNano,
    cost_nano: finished.costNano,
    usage: JSON.stringify(finished.usage),
    artifacts: JSON.stringify(finished.artifacts),
    due_at: null,
    expires_at: now,
    created_at: new Date(finished.startedMs),
    updated_at: now,
    finished_at: now,
  });
}

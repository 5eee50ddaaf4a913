/**
 * Stores work that was done while its caller waited as an ended task. The edit form 2 of images names its task, so that callers
 * can read the result from it. Requirements: IMG (`gw.task_id`); EDIT2-33.
 */
import type { Tags } from "../base/tags.ts";
import type { Note } from "../base/notes.ts";
import type { MediaUsage } from "../media/index.ts";
import type { Queryable } from "../storage/index.ts";
import type { Caller } from "../tenancy/index.ts";
import { callColumns, type PreparedMedia } from "./prepare.ts";
import { insertRow } from "./rows.ts";
import type { Task } from "./types.ts";

export interface Finished extends Pick<
  Task,
  "id" | "form" | "attempts" | "costNano" | "artifacts"
> {
  readonly caller: Caller;
  readonly prepared: PreparedMedia;
  readonly notes: readonly Note[];
  readonly usage: MediaUsage;
  readonly startedMs: number;
  /** The caller's tags. */
  readonly tags?: Tags | undefined;
  readonly nowMs: number;
}

/** Inserts the task of finished work, in the transaction that charges it. */
export async function insertFinished(tx: Queryable, finished: Finished): Promise<void> {
  const { caller, form, prepared, notes, nowMs } = finished;
  const now = new Date(nowMs);
  const last = finished.attempts.at(-1);
  await insertRow(tx, {
    ...callColumns(caller, form, { ...prepared, notes, tags: finished.tags }),
    id: finished.id,
    status: "succeeded",
    attempts: JSON.stringify(finished.attempts),
    provider: last?.provider ?? null,
    credential: last?.credential ?? null,
    upstream_model: last?.upstream_model ?? null,
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

/**
 * The event of a callback, and its insertion into the outbox. Requirements: HOOK; docs/decisions.md "Callback".
 * A task ends once and so has one event, with the same id and text however often it is sent.
 */
import { newId } from "../../base/ids.ts";
import type { Queryable } from "../../storage/index.ts";
import type { TerminalStatus } from "../states.ts";

export type CallbackType = `task.${TerminalStatus}`;
/** The event type by which a workspace tests an address. */
export const testType = "webhook.test";

export interface EventHead {
  /** `evt_...`: receivers recognise repeated deliveries by it. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
}

/** The text of an event, which is signed and sent. */
export const eventText = ({ id, type, createdAt }: EventHead, data: unknown): string =>
  JSON.stringify({ id, type, created_at: createdAt.toISOString(), data });

export interface Callback {
  readonly workspaceId: string;
  readonly taskId: string;
  readonly type: CallbackType;
  readonly url: string;
  readonly nowMs: number;
}

/**
 * Adds the callback of an ended task to the outbox, due at once. Call it in the transaction that ends the task, and
 * wake the deliverer after its commit. A second call for the same task adds nothing.
 */
export async function enqueueCallback(tx: Queryable, callback: Callback): Promise<void> {
  const now = new Date(callback.nowMs);
  await tx.query(
    `insert into webhook_deliveries (workspace_id, id, task_id, type, url, due_at, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $6, $6)
     on conflict (workspace_id, task_id) where task_id is not null do nothing`,
    [
      callback.workspaceId,
      newId("evt", callback.nowMs),
      callback.taskId,
      callback.type,
      callback.url,
      now,
    ],
  );
}

/** An event for a workspace that belongs to no task. */
export interface WorkspaceEvent {
  readonly workspaceId: string;
  readonly data: object;
}

/** Adds events to the outbox for the workspaces that have an address for alerts; returns how many. */
export async function postEvents(
  tx: Queryable,
  { type, nowMs }: { readonly type: string; readonly nowMs: number },
  events: readonly WorkspaceEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const ids = events.map(() => newId("evt", nowMs));
  const createdAt = new Date(nowMs);
  const texts = events.map(({ data }, index) =>
    eventText({ id: ids[index]!, type, createdAt }, data),
  );
  const rows = await tx.query(
    `insert into webhook_deliveries (workspace_id, id, type, url, body, due_at, created_at, updated_at)
     select w.id, a.id, $4, w.alert_webhook_url, a.body, $5, $5, $5
     from unnest($1::text[], $2::text[], $3::text[]) as a (workspace_id, id, body)
     join workspaces w on w.id = a.workspace_id
     where w.alert_webhook_url is not null returning id`,
    [events.map(({ workspaceId }) => workspaceId), ids, texts, type, createdAt],
  );
  return rows.length;
}

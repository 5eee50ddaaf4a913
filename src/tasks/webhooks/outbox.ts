/**
 * The statements of the outbox. A row is claimed under a lease, and every write of it names the lease's token. So a
 * process that lost its lease changes nothing any more. docs/tasks.md; Requirements: HOOK.
 */
import { camelCased, type SnakeCased } from "../../base/casing.ts";
import type { Database, Queryable } from "../../storage/index.ts";
import { aheadMsMax } from "../lease.ts";
import { newToken, currentOwner } from "../owner.ts";
import type { HostOf } from "../slot-limiter.ts";
import { newLocalLease, type LocalLease } from "../local-lease.ts";
import type { NextStep, Outcome } from "./schedule.ts";

/** A delivery that may be claimed. */
export interface DueDelivery {
  readonly workspaceId: string;
  readonly id: string;
  /** The receiver's host and port. */
  readonly host: string;
}

/** A delivery that this process holds, until its lease ends. */
export interface ClaimedDelivery extends DueDelivery {
  readonly taskId: string | null;
  readonly type: string;
  readonly url: string;
  /** The event's text; null before the first try. */
  readonly text: string | null;
  /** The number of this try. */
  readonly attempt: number;
  /** Earlier tries that no longer count for the schedule. */
  readonly attemptsBefore: number;
  readonly createdAt: Date;
  /** The trace context of the request that submitted its task. */
  readonly traceparent: string | undefined;
  readonly token: string;
  /** The time within which it may be sent. */
  readonly localLease: LocalLease;
}

interface ClaimedRow extends SnakeCased<
  Omit<ClaimedDelivery, "traceparent" | "token" | "localLease">
> {
  readonly traceparent: string | null;
}

/** Due deliveries, longest due first, without the receivers and workspaces that are at their limits. */
export async function findDue(
  database: Queryable,
  input: {
    readonly nowMs: number;
    readonly limit: number;
    readonly fullHosts: readonly HostOf[];
    readonly fullWorkspaces: readonly string[];
  },
): Promise<DueDelivery[]> {
  return database.query<DueDelivery>(
    `select workspace_id as "workspaceId", id, coalesce(host, '') as host from webhook_deliveries
     where due_at <= $1 and (lease_until is null or lease_until <= $1)
       and (workspace_id, coalesce(host, '')) not in (select * from unnest($2::text[], $3::text[]))
       and workspace_id <> all($4::text[])
     order by due_at limit $5`,
    [
      new Date(input.nowMs),
      input.fullHosts.map(({ workspaceId }) => workspaceId),
      input.fullHosts.map(({ host }) => host),
      input.fullWorkspaces,
      input.limit,
    ],
    { name: "webhooks_due" },
  );
}

/**
 * Claims those of `due` that no other process has claimed meanwhile, and counts a try for each, which takes up to `tryMs`. A lease that ended
 * on its own is of a try without a known outcome: like one that the gateway cut off, it does not count for the schedule.
 */
export async function claimDue(
  database: Database,
  due: readonly DueDelivery[],
  nowMs: number,
  { leaseMs, tryMs }: { readonly leaseMs: number; readonly tryMs: number },
): Promise<ClaimedDelivery[]> {
  const token = newToken(currentOwner(database.signals.number));
  // A try that begins later might end after the lease.
  const localLease = newLocalLease(leaseMs - Math.min(tryMs, leaseMs / 2));
  const rows = await database.query<ClaimedRow>(
    `update webhook_deliveries d
     set lease_token = $3, lease_until = $5, attempts = d.attempts + 1, updated_at = $4,
       attempts_before = d.attempts_before + (d.lease_token is not null)::integer
     from (
       select workspace_id, id from webhook_deliveries
       where (workspace_id, id) in (select * from unnest($1::text[], $2::text[]))
         and due_at <= $4 and (lease_until is null or lease_until <= $4)
       for update skip locked
     ) as free
     where d.workspace_id = free.workspace_id and d.id = free.id
     returning d.workspace_id, d.id, coalesce(d.host, '') as host, d.task_id, d.type, d.url, d.body as text, d.attempts as attempt,
       d.attempts_before, d.created_at,
       (select t.plan->>'traceparent' from tasks t where t.workspace_id = d.workspace_id and t.id = d.task_id) as traceparent`,
    [
      due.map((one) => one.workspaceId),
      due.map((one) => one.id),
      token,
      new Date(nowMs),
      new Date(nowMs + leaseMs),
    ],
    { name: "webhooks_claim" },
  );
  return rows.map((row) => ({
    ...camelCased(row),
    traceparent: row.traceparent ?? undefined,
    token,
    localLease,
  }));
}

/** Stores the event's text before it is first sent. False if the lease is lost; then it must not be sent. */
export async function keepText(
  database: Queryable,
  delivery: ClaimedDelivery,
  text: string,
): Promise<boolean> {
  const rows = await database.query(
    `update webhook_deliveries set body = $4
     where workspace_id = $1 and id = $2 and lease_token = $3 and body is null returning id`,
    [delivery.workspaceId, delivery.id, delivery.token, text],
  );
  return rows.length > 0;
}

export interface TryResult {
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly step: NextStep;
  /** False if the end of the try says nothing about the receiver: the schedule stays as it was. */
  readonly counts: boolean;
}

/**
 * Writes a try and its next step in one statement; may be repeated. The log gets every try that was made. If the lease is lost, the
 * delivery stays unchanged and the result is false.
 */
export async function noteTry(
  database: Queryable,
  delivery: ClaimedDelivery,
  result: TryResult,
  nowMs: number,
): Promise<boolean> {
  const { outcome, step } = result;
  const dueAt = step.status === "pending" ? new Date(nowMs + step.pauseMs) : null;
  const rows = await database.query(
    `with logged as (
       insert into webhook_attempts (workspace_id, delivery_id, attempt, started_at, duration_ms, http_status, error)
       values ($1, $2, $4, $5, $6, $7, $8) on conflict do nothing
     )
     update webhook_deliveries
     set status = $9, due_at = $10, lease_token = null, lease_until = null, updated_at = $11,
       attempts_before = attempts_before + $12
     where workspace_id = $1 and id = $2 and lease_token = $3 returning id`,
    [
      delivery.workspaceId,
      delivery.id,
      delivery.token,
      delivery.attempt,
      result.startedAt,
      Math.round(result.durationMs),
      outcome.httpStatus,
      outcome.error,
      step.status,
      dueAt,
      new Date(nowMs),
      result.counts ? 0 : 1,
    ],
    { name: "webhooks_note" },
  );
  return rows.length > 0;
}

/**
 * Makes deliveries due that a clock ahead of time postponed, once it has been set back; otherwise a clock a day ahead would delay them
 * by a day. Returns the number of rows.
 */
export async function mendAfterClockJump(database: Queryable, nowMs: number): Promise<number> {
  const rows = await database.query(
    `update webhook_deliveries set due_at = $1, lease_token = null, lease_until = null, updated_at = $1,
       attempts_before = attempts_before + (lease_token is not null)::integer
     where due_at is not null and updated_at > $2 returning id`,
    [new Date(nowMs), new Date(nowMs + aheadMsMax)],
  );
  return rows.length;
}

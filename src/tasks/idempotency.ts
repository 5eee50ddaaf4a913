/**
 * Idempotent submission: within 24 hours one key of a workspace makes one task, or one synchronous image call, however
 * often and to whichever gateway it is sent. docs/decisions.md "Idempotency"; TASK-10, TASK-45; T81.
 */
import { dayMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import type { IdempotencyClaim } from "./types.ts";

/** The lifetime of a key. */
export const keyLifetimeMs = dayMs;
const param = "Idempotency-Key";

interface Holder {
  readonly workspaceId: string;
  readonly claim: IdempotencyClaim;
}

/** Another submission committed its claim of the key while this one was in flight. */
export class AlreadyClaimedError extends Error {
  override name = "AlreadyClaimedError";
}

/** The error for a request whose key has another request in flight. */
export const keyInProgress = () =>
  new GatewayError(
    "idempotency_in_progress",
    "The first request with this Idempotency-Key is still under way; send it again in a moment.",
    { param, retryAfterSeconds: 1 },
  );

const reused = () =>
  new GatewayError(
    "idempotency_key_reuse",
    "This Idempotency-Key was used with another request; use a new key for a new request.",
    { param, shouldRetry: false },
  );

/** Stored instead of an answer's name if the call was charged and has no answer. */
export const noAnswer = "";

/**
 * The error if the key's result is no longer there: an end user was erased, its retention ended, or its caller left before the end. It
 * is not made again, because that would cost again.
 */
export const keyOutlived = () =>
  new GatewayError(
    "not_found",
    "The result of this Idempotency-Key is no longer kept; use a new key for a new request.",
    { param, shouldRetry: false },
  );

/**
 * The task that a key has made before; undefined if the key is new or expired.
 * @throws GatewayError `idempotency_key_reuse` if it belongs to another request.
 */
export async function findClaimed(
  database: Queryable,
  { workspaceId, claim }: Holder,
  nowMs: number,
): Promise<string | undefined> {
  const [row] = await database.query<{ fingerprint: string; task_id: string | null }>(
    `select fingerprint, task_id from idempotency_keys
     where workspace_id = $1 and key = $2 and created_at > $3`,
    [workspaceId, claim.key, new Date(nowMs - keyLifetimeMs)],
  );
  if (row === undefined) return undefined;
  // The fingerprint includes the path, so a call without a task never has the fingerprint of one with a task.
  if (row.fingerprint !== claim.fingerprint || row.task_id === null) throw reused();
  return row.task_id;
}

/**
 * The stored answer of the key's finished call, by its name in the file store; undefined if the key is free.
 * @throws GatewayError `idempotency_key_reuse`; `idempotency_in_progress` while the call's hold is open; `not_found` if it was
 * charged and has no answer
 */
export async function findAnswered(
  database: Queryable,
  { workspaceId, claim }: Holder,
  nowMs: number,
): Promise<string | undefined> {
  const [row] = await database.query<{
    fingerprint: string;
    answer: string | null;
    running: boolean;
  }>(
    `select k.fingerprint, k.answer,
       exists (select from ledger_holds h where h.workspace_id = k.workspace_id and h.id = k.call_id) as running
     from idempotency_keys k where k.workspace_id = $1 and k.key = $2 and k.created_at > $3`,
    [workspaceId, claim.key, new Date(nowMs - keyLifetimeMs)],
  );
  if (row === undefined) return undefined;
  if (row.fingerprint !== claim.fingerprint) throw reused();
  if (row.answer === null && row.running) throw keyInProgress();
  if (row.answer === noAnswer) throw keyOutlived();
  return row.answer ?? undefined;
}

/**
 * Claims a key for a call, in the transaction that reserves under the call's id. A key is free if its call has ended without an
 * answer. @throws GatewayError `idempotency_in_progress` if another call has it
 */
export async function claimKeyForCall(
  tx: Queryable,
  { workspaceId, claim }: Holder,
  callId: string,
  nowMs: number,
): Promise<void> {
  // In a separate statement: one that waits for another commit uses the snapshot from before, and would not see the
  // hold of the call that has the key.
  const [lock] = await tx.query<{ free: boolean }>(
    "select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free",
    [`${workspaceId} ${claim.key}`],
  );
  if (lock?.free !== true) throw keyInProgress();
  const rows = await tx.query(
    `insert into idempotency_keys as held (workspace_id, key, fingerprint, call_id, created_at) values ($1, $2, $3, $4, $5)
     on conflict (workspace_id, key) do update
       set fingerprint = excluded.fingerprint, call_id = excluded.call_id, created_at = excluded.created_at,
         task_id = null, answer = null
       where held.created_at <= $6 or held.call_id = excluded.call_id
         or (held.fingerprint = excluded.fingerprint and held.answer is null and not exists (
           select from ledger_holds h where h.workspace_id = held.workspace_id and h.id = held.call_id))
     returning key`,
    [
      workspaceId,
      claim.key,
      claim.fingerprint,
      callId,
      new Date(nowMs),
      new Date(nowMs - keyLifetimeMs),
    ],
  );
  if (rows.length === 0) throw keyInProgress();
}

/**
 * Stores the answer of a call, in the transaction that ends its hold. @throws GatewayError `idempotency_in_progress` if another call
 * has the key by now: the hold had expired while its process was suspended or cut off. Then only the other call is charged.
 */
export async function answerKey(
  tx: Queryable,
  { workspaceId, claim }: Holder,
  callId: string,
  answer: string,
): Promise<void> {
  const rows = await tx.query(
    "update idempotency_keys set answer = $4 where workspace_id = $1 and key = $2 and call_id = $3 returning key",
    [workspaceId, claim.key, callId, answer],
  );
  if (rows.length === 0) throw keyInProgress();
}

/** A key, and the task to claim it for. */
export interface KeyClaim extends IdempotencyClaim {
  readonly workspaceId: string;
  readonly taskId: string;
}

/** `taken`: a submission committed it while this one was in flight; `in_progress`: another submission may still commit it. */
export type KeyOutcome = "claimed" | "taken" | "in_progress";

/** Claims keys for tasks, in the transaction that creates them, without waiting. Returns one outcome each; all keys must differ. */
export async function claimKeys(
  tx: Queryable,
  claims: readonly KeyClaim[],
  nowMs: number,
): Promise<KeyOutcome[]> {
  const locks = await tx.query<{ place: number; free: boolean }>(
    `select place::integer as place, pg_try_advisory_xact_lock(hashtextextended(name, 0)) as free
     from unnest($1::text[]) with ordinality as i (name, place)`,
    [claims.map(({ workspaceId, key }) => `${workspaceId} ${key}`)],
    { name: "idempotency_lock" },
  );
  const free = locks.filter((lock) => lock.free).map(({ place }) => claims[place - 1]!);
  const rows = await tx.query<{ task_id: string }>(
    `insert into idempotency_keys as held (workspace_id, key, fingerprint, task_id, created_at)
     select i.*, $5::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::text[]) i
     on conflict (workspace_id, key) do update
       set fingerprint = excluded.fingerprint, task_id = excluded.task_id, created_at = excluded.created_at,
         call_id = null, answer = null
       where held.created_at <= $6
     returning task_id`,
    [
      free.map(({ workspaceId }) => workspaceId),
      free.map(({ key }) => key),
      free.map(({ fingerprint }) => fingerprint),
      free.map(({ taskId }) => taskId),
      new Date(nowMs).toISOString(),
      new Date(nowMs - keyLifetimeMs).toISOString(),
    ],
    { name: "idempotency_claim" },
  );
  const claimed = new Set(rows.map((row) => row.task_id));
  return claims.map((claim) => {
    if (claimed.has(claim.taskId)) return "claimed";
    return free.includes(claim) ? "taken" : "in_progress";
  });
}

/** Releases keys that this transaction claimed for tasks that it does not create after all. */
export async function forgetKeys(tx: Queryable, claims: readonly KeyClaim[]): Promise<void> {
  await tx.query(
    `delete from idempotency_keys k using unnest($1::text[], $2::text[], $3::text[]) as i (workspace_id, key, task_id)
     where k.workspace_id = i.workspace_id and k.key = i.key and k.task_id = i.task_id`,
    [
      claims.map(({ workspaceId }) => workspaceId),
      claims.map(({ key }) => key),
      claims.map(({ taskId }) => taskId),
    ],
  );
}

/** The keys with a first request in flight in this process. */
export interface KeyLocks {
  /** Runs `work` unless another request with this key is in flight. @throws GatewayError `idempotency_in_progress` */
  exclusively<T>(holder: Holder, work: () => Promise<T>): Promise<T>;
}

/** Creates an empty set of keys in flight. */
export function createKeyLocks(): KeyLocks {
  const held = new Set<string>();
  return {
    async exclusively({ workspaceId, claim }, work) {
      const name = `${workspaceId} ${claim.key}`;
      if (held.has(name)) throw keyInProgress();
      held.add(name);
      try {
        return await work();
      } finally {
        held.delete(name);
      }
    },
  };
}

const sweptTogether = 1_000;

/** Deletes all expired keys in batches; returns how many. */
export async function sweepKeys(database: Queryable, nowMs: number): Promise<number> {
  let forgotten = 0;
  for (;;) {
    const rows = await database.query<{ key: string }>(
      `delete from idempotency_keys where (workspace_id, key) in (
         select workspace_id, key from idempotency_keys where created_at <= $1 limit $2) returning key`,
      [new Date(nowMs - keyLifetimeMs), sweptTogether],
    );
    forgotten += rows.length;
    if (rows.length < sweptTogether) return forgotten;
  }
}

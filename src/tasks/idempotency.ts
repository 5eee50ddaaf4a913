/**
 * Idempotent submission: one key of a workspace makes one task, or one synchronous image call, within 24 hours, however
 * often and wherever it is sent. docs/decisions.md "Idempotency"; TASK-10, TASK-45; T81.
 */
import { dayMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import type { IdempotencyClaim } from "./types.ts";

/** How long a key stands for what it made. */
export const keyLifetimeMs = dayMs;
const param = "Idempotency-Key";

interface Holder {
  readonly workspaceId: string;
  readonly claim: IdempotencyClaim;
}

/** The claim was made by a submission that committed while this one was on its way. */
export class AlreadyClaimedError extends Error {
  override name = "AlreadyClaimedError";
}

/** Why a request waits for another with its key. */
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

/** In place of an answer's name: the call was charged, and has none. */
export const noAnswer = "";

/**
 * What the key made is there no more: an end user was erased, its time was over, or its caller left before the end. It is not
 * made again, which would cost again.
 */
export const keyOutlived = () =>
  new GatewayError(
    "not_found",
    "What was made with this Idempotency-Key is not kept any more; use a new key for a new request.",
    { param, shouldRetry: false },
  );

/**
 * The task a key has made before; undefined when the key is new or forgotten.
 * @throws GatewayError `idempotency_key_reuse` when it stands for another request.
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
  // The fingerprint holds the path, so a call that made no task never has a task's.
  if (row.fingerprint !== claim.fingerprint || row.task_id === null) throw reused();
  return row.task_id;
}

/**
 * The kept answer, by its name in the file store, of the finished call that a key stands for; undefined when the key is free.
 * @throws GatewayError `idempotency_key_reuse`; `idempotency_in_progress` while the call's hold is open; `not_found` where it was
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
 * Claims a key for a call, in the transaction that reserves under the call's id. A key whose call has ended without an
 * answer is free. @throws GatewayError `idempotency_in_progress` where another call has it
 */
export async function claimKeyForCall(
  tx: Queryable,
  { workspaceId, claim }: Holder,
  callId: string,
  nowMs: number,
): Promise<void> {
  // In a statement of its own: one that waits for another's commit judges by what was there before, and would not see the
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
 * Notes the kept answer of a call, in the transaction that ends its hold. @throws GatewayError `idempotency_in_progress` where the
 * key is another call's by now: the hold had run out, while its process was stopped or cut off. Then that one is charged, not both.
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

/** A key and the task that it is to stand for. */
export interface KeyClaim extends IdempotencyClaim {
  readonly workspaceId: string;
  readonly taskId: string;
}

/** `taken`: by a submission that committed while this one was on its way; `in_progress`: by one that may still commit. */
export type KeyOutcome = "claimed" | "taken" | "in_progress";

/** Claims keys for tasks, in the transaction that makes them; waits for nobody. One outcome each; no two may be of one key. */
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

/** Gives keys back that were claimed in this transaction for tasks that it does not make after all. */
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

/** The keys whose first request is on its way in this process. */
export interface KeysUnderWay {
  /** Runs `work` while no other request with this key does. @throws GatewayError `idempotency_in_progress` */
  alone<T>(holder: Holder, work: () => Promise<T>): Promise<T>;
}

/** An empty set of keys under way. */
export function createKeysUnderWay(): KeysUnderWay {
  const held = new Set<string>();
  return {
    async alone({ workspaceId, claim }, work) {
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

/** Forgets all keys past their lifetime, some at a time; returns how many. */
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

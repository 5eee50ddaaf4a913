/** The batch of a lane: what `ledger_batch` takes and answers (storage/migrations/0056_ledger_batches.sql). */
import { numberArray, textArray, type Confirmed, type Queryable } from "../storage/index.ts";
import type { Ended, KeyUse, Waiting } from "./key-use.ts";
import type { Answer } from "./refusal.ts";

/** What a key is sent. */
export interface Target {
  readonly key: KeyUse;
  readonly entries: readonly Ended[];
  /** Those of its waiting calls that are asked for. */
  readonly asked: readonly Waiting[];
  /** What its calls use and wait for; null: nothing is asked. */
  readonly need: bigint | null;
  /** Of both need and keep, what running calls use or may be given meanwhile: it stays whatever is decided. */
  readonly use: bigint;
  /** What may be given to calls while the batch is on its way. */
  readonly keep: bigint;
  /** What it would like to have beyond both. */
  readonly headroom: bigint;
}

export interface Batch {
  readonly gateway: string;
  readonly lane: number;
  /** Higher with every sending of the lane. */
  readonly number: number;
  readonly leaseMs: number;
  /** The needs are what running calls use, of all keys of the lane; nothing is asked. Entries go along. */
  readonly restore: boolean;
  /** Accounts that others have locked are answered `busy`, and not waited for. */
  readonly skipLocked: boolean;
  readonly targets: readonly Target[];
  /** When they were collected, by the monotonic clock. */
  readonly sentAt: number;
}

/** What a key is answered. Its refusal may also be `busy`: its account is locked elsewhere, and nothing of it was done. */
export type BatchRow = (Answer | { readonly refusal: "busy" | null; readonly at: null }) & {
  /** From 1; 0: the lane had lapsed or is new, and must restore. */
  readonly place: number;
  readonly allowance: bigint;
};

/** Hears of each batch that leaves, and what becomes of it. */
export type BatchWatch = (batch: Batch, answer: Promise<unknown>) => void;

/** Sends a batch. No rows: a later one of the lane was there before, and this one did nothing. */
export type Send = (batch: Batch) => Promise<readonly BatchRow[]>;

/** One row at least: which number the lane's row had before this statement, whose snapshot is from its beginning. */
const batchSql = `select b.*, l.before from (select (select number from ledger_lanes where gateway = $1 and lane = $2) as before) l
  left join ledger_batch($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17) b on true`;

/** Without a place where the batch was answered nothing. */
type SentRow = (BatchRow | { readonly place: null }) & { readonly before: bigint | null };

/** The parameters of `ledger_batch`. */
function batchParams(batch: Batch): unknown[] {
  const { targets } = batch;
  const keys = targets.map(({ key }) => key.name);
  const entries = targets.flatMap((target) => target.entries);
  const places = targets.flatMap((target, index) => target.entries.map(() => index + 1));
  const asks = targets.some(({ need }) => need !== null);
  const asked = (name: "need" | "use" | "keep" | "headroom"): string | null =>
    asks ? numberArray(targets.map((target) => target[name])) : null;
  return [
    batch.gateway,
    batch.lane,
    batch.number,
    batch.leaseMs,
    batch.restore,
    batch.skipLocked,
    textArray(keys.map(({ workspaceId }) => workspaceId)),
    textArray(keys.map(({ keyId }) => keyId)),
    numberArray(keys.map(({ keyRotation }) => keyRotation)),
    asked("need"),
    asked("use"),
    asked("keep"),
    asked("headroom"),
    numberArray(places),
    textArray(entries.map(({ id }) => id)),
    numberArray(entries.map(({ charge }) => charge)),
    numberArray(entries.map(({ bound }) => bound)),
  ];
}

/** Sends batches to a database. `confirmed` finds out whether it has lost some. */
export const sendTo =
  (database: Queryable, watch?: BatchWatch, confirmed?: Confirmed): Send =>
  async (batch) => {
    const answer = database.query<SentRow>(batchSql, batchParams(batch), { name: "ledger_batch" });
    watch?.(batch, answer);
    const rows = await answer;
    const answered = rows.filter((row): row is BatchRow & SentRow => row.place !== null);
    await confirmed?.note(batch, rows[0]!.before, answered.length > 0);
    return answered;
  };

/** The batch of a lane: the parameters and rows of `ledger_batch` (storage/migrations/0056_ledger_batches.sql). */
import { numberArray, textArray, type CommitTracker, type Queryable } from "../storage/index.ts";
import type { Ended, KeyUse, Waiting } from "./key-use.ts";
import type { Answer } from "./refusal.ts";

/** The fields of a key in a batch. */
export interface Target {
  readonly key: KeyUse;
  readonly entries: readonly Ended[];
  /** The waiting calls that this batch asks for. */
  readonly asked: readonly Waiting[];
  /** The amount that its calls use and wait for; null if the batch asks nothing. */
  readonly need: bigint | null;
  /** The part of need and keep that running calls use or may get meanwhile: it stays, whatever the database decides. */
  readonly use: bigint;
  /** The amount that calls may use while the batch is in flight. */
  readonly keep: bigint;
  /** The headroom to add beyond both. */
  readonly headroom: bigint;
}

export interface Batch {
  readonly gateway: string;
  readonly lane: number;
  /** Rises with every sending of the lane. */
  readonly number: number;
  readonly leaseMs: number;
  /** If true, the needs are the use of running calls, for all keys of the lane; nothing more is asked. Entries are included. */
  readonly restore: boolean;
  /** If true, the database answers `busy` for accounts that others have locked, and does not wait for them. */
  readonly skipLocked: boolean;
  readonly targets: readonly Target[];
  /** When the targets were collected, in ms of the monotonic clock. */
  readonly sentAt: number;
}

/** The answer for a key. The refusal `busy` means that its account is locked elsewhere and nothing was done for it. */
export type BatchRow = (Answer | { readonly refusal: "busy" | null; readonly at: null }) & {
  /** The place of its target, from 1. 0: the lane had lapsed or is new, and must restore. */
  readonly place: number;
  readonly allowance: bigint;
};

/** Called with each batch that is sent, and the promise of its answer. */
export type BatchWatch = (batch: Batch, answer: Promise<unknown>) => void;

/** Sends a batch. Returns no rows if a later batch of the lane came first: then this one did nothing. */
export type Send = (batch: Batch) => Promise<readonly BatchRow[]>;

/** Returns at least one row, with the number of the lane's row before this statement: its snapshot is from its beginning. */
const batchSql = `select b.*, l.before from (select (select number from ledger_lanes where gateway = $1 and lane = $2) as before) l
  left join ledger_batch($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17) b on true`;

/** `place` is null if `ledger_batch` returned no row. */
type SentRow = (BatchRow | { readonly place: null }) & { readonly before: bigint | null };

/** Returns the parameters of `ledger_batch`. */
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

/** Returns the sender of batches to a database. `confirmed` finds out whether the database lost some. */
export const sendTo =
  (database: Queryable, watch?: BatchWatch, confirmed?: CommitTracker): Send =>
  async (batch) => {
    const answer = database.query<SentRow>(batchSql, batchParams(batch), { name: "ledger_batch" });
    watch?.(batch, answer);
    const rows = await answer;
    const answered = rows.filter((row): row is BatchRow & SentRow => row.place !== null);
    await confirmed?.note(batch, rows[0]!.before, answered.length > 0);
    return answered;
  };

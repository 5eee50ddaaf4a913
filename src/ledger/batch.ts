/** The batch of a lane: what `ledger_batch` takes and answers (storage/baseline/07_ledger_batches.sql). */
import type { Queryable } from "../storage/index.ts";
import type { KeyUse } from "./key-use.ts";
import type { Answer } from "./refusal.ts";

/** One key in a batch. */
export interface BatchKey {
  readonly key: Pick<KeyUse, "workspaceId" | "keyId" | "rotation">;
  /** What its calls use and wait for; null: it has entries only, and nothing is asked. */
  readonly need: bigint | null;
  /** Of both need and keep, what running calls use or may be given meanwhile: it stays whatever is decided. */
  readonly use: bigint;
  /** What may be given to calls while the batch is on its way. */
  readonly keep: bigint;
  /** What it would like to have beyond both. */
  readonly headroom: bigint;
}

/** A call that is over. */
export interface BatchEntry {
  /** Its key in the batch, from 1. */
  readonly place: number;
  readonly id: string;
  /** Null for a void. */
  readonly charge: bigint | null;
  readonly bound: bigint;
}

export interface Batch {
  readonly gateway: string;
  readonly lane: number;
  /** Higher with every sending of the lane. */
  readonly number: number;
  readonly leaseMs: number;
  /** The needs are what running calls use, of all keys of the lane; nothing is asked. */
  readonly restore: boolean;
  /** Accounts that others have locked are answered `busy`, and not waited for. */
  readonly skipLocked: boolean;
  readonly keys: readonly BatchKey[];
  readonly entries: readonly BatchEntry[];
}

/** What a key is answered. Its `refusal` may also be `busy`: nothing of it was done, because its account is locked elsewhere. */
export interface BatchRow extends Answer {
  /** From 1; 0: the lane had lapsed or is new, and must restore. */
  readonly place: number;
  readonly allowance: bigint | null;
}

/** Called with a batch that leaves; what it returns is called when it is over, with the error where it failed. */
export type BatchWatch = (
  batch: Pick<Batch, "keys" | "entries" | "restore">,
) => (error?: unknown) => void;

/** Sends a batch. No rows: it was fenced off, and did nothing. */
export type Send = (batch: Batch) => Promise<readonly BatchRow[]>;

/** Arrays in PostgreSQL's own text form: the driver escapes each element by itself, which costs more than the rest of a batch. */
const texts = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(",")}}`;
const numbers = (items: readonly (bigint | number | null)[]): string =>
  `{${items.map((item) => item ?? "null").join(",")}}`;

/** The parameters of `ledger_batch`. */
function batchParams(batch: Batch): unknown[] {
  const { keys, entries } = batch;
  const asks = keys.some((key) => key.need !== null);
  return [
    batch.gateway,
    batch.lane,
    batch.number,
    batch.leaseMs,
    batch.restore,
    batch.skipLocked,
    texts(keys.map(({ key }) => key.workspaceId)),
    texts(keys.map(({ key }) => key.keyId)),
    numbers(keys.map(({ key }) => key.rotation)),
    asks ? numbers(keys.map((key) => key.need)) : null,
    asks ? numbers(keys.map((key) => key.use)) : null,
    asks ? numbers(keys.map((key) => key.keep)) : null,
    asks ? numbers(keys.map((key) => key.headroom)) : null,
    numbers(entries.map((entry) => entry.place)),
    texts(entries.map((entry) => entry.id)),
    numbers(entries.map((entry) => entry.charge)),
    numbers(entries.map((entry) => entry.bound)),
  ];
}

const batchSql =
  "select * from ledger_batch($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17)";

/** Sends batches to a database. */
export const sendTo =
  (database: Queryable): Send =>
  (batch) =>
    database.query<BatchRow>(batchSql, batchParams(batch), { name: "ledger_batch" });

/**
 * Heads of the request log: columns that many rows have in common, stored once (storage/baseline/09_request_log.sql). A row gets a head if
 * a similar row came before. A row that occurs only once (with a name that the caller made up, or a plan priced for one video) gets none,
 * and is stored whole. insert.ts checks whether the database has a head.
 */
import { createHash } from "node:crypto";
import { textOf } from "../storage/index.ts";
import type { RequestRow } from "./row.ts";
import {
  integerMax,
  onlyAttempt,
  splitUsage,
  type PlainAttempt,
  type SplitUsage,
} from "./split.ts";

/** Kinds of similar rows that are remembered, at most twice as many: about a kilobyte each. */
const kindsMax = 5_000;
const numbersMax = 1_000;

/** A row of `request_heads`; it never changes. */
export interface Head {
  readonly workspaceId: string;
  /** The first 16 bytes of the SHA-256 of `text`, as a UUID in hex: the same text has the same id everywhere. */
  readonly id: string;
  /** A JSON object of the columns, without `id`. */
  readonly text: string;
}

/** A row of the log in the queue: texts and numbers only, so its owner cannot change it any more. */
export interface Queued {
  readonly workspaceId: string;
  readonly id: string;
  readonly createdMs: number;
  readonly costNano: bigint;
  readonly durationMs: number | undefined;
  readonly firstTokenMs: number | undefined;
  readonly head: Head | undefined;
  /** The numbers for the usage format of the head; empty if the row has its own usage, or none. */
  readonly counts: string;
  /** The times of the head's attempt. */
  readonly attempt: { readonly startedMs: number; readonly durationMs: number } | undefined;
  /** A JSON object of the row's own values, by column name; empty if there are none. */
  readonly own: string;
}

/** A cache of the last `max` to 2 `max` values by name: those in use stay. */
class Recent<Value> {
  readonly #max: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(max: number) {
    this.#max = max;
  }

  get(name: string): Value | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) this.set(name, old);
    return old;
  }

  set(name: string, value: Value): void {
    if (this.#young.size >= this.#max) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(name, value);
  }
}

/** The parts of a row that a head may hold. */
interface Parts {
  readonly row: RequestRow;
  readonly usage: SplitUsage | undefined;
  readonly attempt: PlainAttempt | undefined;
}

const sharedColumns = (row: RequestRow) => ({
  key_id: row.keyId,
  model: row.model,
  provider: row.provider,
  protocol: row.protocol,
  upstream_protocol: row.upstreamProtocol,
  status: row.status,
  http_status: row.httpStatus,
  usage_source: row.usageSource,
  explanation: row.explanation,
  price: row.price,
  stream: row.stream,
});

const dayMs = 86_400_000;
let monthDay = Number.NaN;
let monthText = "";

/** Returns the first day of the month in which a call began: a head belongs to one month, and is deleted with its rows (src/retention). */
function monthOf(at: Date): string {
  const day = Math.floor(at.getTime() / dayMs);
  if (day !== monthDay) {
    monthText = `${at.toISOString().slice(0, -17)}-01`;
    monthDay = day;
  }
  return monthText;
}

function makeHead({ row, usage, attempt }: Parts): Head {
  const text = textOf({
    workspace_id: row.workspaceId,
    month: monthOf(row.createdAt),
    ...sharedColumns(row),
    usage_format: usage?.format,
    attempt: attempt && {
      provider: attempt.provider,
      credential: attempt.credential,
      upstream_model: attempt.upstream_model,
      status: attempt.status,
      outcome: attempt.outcome,
    },
  });
  const id = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return { workspaceId: row.workspaceId, id, text };
}

const notEmpty = <Item>(items: readonly Item[] | undefined): readonly Item[] | undefined =>
  items?.length ? items : undefined;

/** Returns the row's own values: with a head, only those that the head lacks; without one, all. */
function ownText({ row, usage, attempt }: Parts, head: Head | undefined): string {
  const particular = {
    usage: head && usage ? undefined : row.usage,
    attempts: head && attempt ? undefined : notEmpty(row.attempts),
    dropped: notEmpty(row.dropped),
    notes: notEmpty(row.notes),
    error_message: row.errorMessage,
    tags: row.tags,
    end_user: row.endUser,
  };
  if (head === undefined) return textOf({ ...sharedColumns(row), ...particular });
  const nothing = Object.values(particular).every((value) => value === undefined);
  return nothing ? "" : textOf(particular);
}

/** Whole milliseconds, as far as their column goes: a task may end weeks later if all gateways were stopped meanwhile. */
const rounded = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.max(-integerMax, Math.min(Math.round(ms), integerMax));

/**
 * Returns a function that numbers objects by content, 0 for undefined. Most objects were met before; some are only equal to an earlier one.
 */
function createNumbers(): (of: object | undefined) => number {
  const numbers = new WeakMap<object, number>();
  const numbersByText = new Recent<number>(numbersMax);
  let last = 0;
  return (of) => {
    if (of === undefined) return 0;
    let number = numbers.get(of);
    if (number !== undefined) return number;
    const text = textOf(of);
    number = numbersByText.get(text);
    if (number === undefined) {
      number = last += 1;
      numbersByText.set(text, number);
    }
    numbers.set(of, number);
    return number;
  };
}

/** Returns a function that makes rows ready for the database, each with its head. @throws what a value throws that cannot be JSON */
export function createRowMaker(): (row: RequestRow) => Queued {
  /** Explanations and prices are long: the name of a kind has numbers instead. */
  const explanationNumber = createNumbers();
  const priceNumber = createNumbers();
  /** Null: met once. */
  const kinds = new Recent<Head | null>(kindsMax);

  function headOf(parts: Parts): Head | undefined {
    const { row, usage, attempt } = parts;
    // The model is the caller's text, so it comes last: whatever it contains, each name belongs to one kind only.
    const name =
      `${monthOf(row.createdAt)}\n${row.workspaceId}\n${row.keyId}\n${row.provider}\n${row.protocol}\n${row.upstreamProtocol}\n${row.status}\n` +
      `${row.httpStatus}\n${row.usageSource}\n${row.stream}\n${explanationNumber(row.explanation)}\n${priceNumber(row.price)}\n${usage?.format}\n` +
      (attempt === undefined
        ? "\n\n\n\n\n"
        : `${attempt.provider}\n${attempt.credential}\n${attempt.upstream_model}\n${attempt.status}\n${attempt.outcome}\n`) +
      row.model;
    const met = kinds.get(name);
    if (met) return met;
    const head = met === null ? makeHead(parts) : undefined;
    kinds.set(name, head ?? null);
    return head;
  }

  return (row) => {
    const parts = { row, usage: splitUsage(row.usage), attempt: onlyAttempt(row.attempts) };
    const head = headOf(parts);
    const { usage, attempt } = parts;
    return {
      workspaceId: row.workspaceId,
      id: row.id,
      createdMs: row.createdAt.getTime(),
      costNano: row.costNano ?? 0n,
      durationMs: rounded(row.durationMs),
      firstTokenMs: rounded(row.firstTokenMs),
      head,
      counts: (head && usage?.counts) ?? "",
      attempt: head &&
        attempt && { startedMs: attempt.started_ms, durationMs: attempt.duration_ms },
      own: ownText(parts, head),
    };
  };
}

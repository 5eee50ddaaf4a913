/**
 * The request log's writer: rows are taken off the caller's path and inserted in batches. Spec: the request log.
 * The log explains and money does not depend on it, so a row that cannot be written is counted and reported, never thrown,
 * and memory stays bounded when the database is slow (T85, T87).
 */
import type { Database, Log } from "./database.ts";
import { isTransient } from "./transient.ts";

const batchMax = 500;
const queueMax = 20_000;
const attemptsMax = 3;
const retryMs = 500;
const gatherMs = 50;

/** One row of `requests`. What is absent is stored as null. */
export interface RequestRow {
  readonly workspaceId: string;
  readonly id: string;
  readonly createdAt: Date;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly protocol?: string | undefined;
  readonly upstreamProtocol?: string | undefined;
  readonly status?: string | undefined;
  readonly httpStatus?: number | undefined;
  readonly usage?: object | undefined;
  readonly usageSource?: string | undefined;
  readonly costNano?: bigint | undefined;
  readonly durationMs?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly dropped?: readonly string[] | undefined;
  readonly notes?: readonly unknown[] | undefined;
  readonly attempts?: readonly unknown[] | undefined;
  readonly explanation?: object | undefined;
}

export interface RequestLog {
  /** Takes a row; never waits and never throws. A full queue drops it, counted and logged. */
  add(row: RequestRow): void;
  /** Resolves when everything added so far is written or given up. */
  flush(): Promise<void>;
}

// The log may lose its last moments in a crash of the server; waiting for the disk each time would slow the ledger beside it.
const insertSql = `
  insert into requests (workspace_id, id, created_at, key_id, model, provider, protocol, upstream_protocol, status,
    http_status, usage, usage_source, cost_nano, duration_ms, first_token_ms, dropped, notes, attempts, explanation)
  select workspace_id, id, created_at, key_id, model, provider, protocol, upstream_protocol, status,
    http_status, usage, usage_source, cost_nano, duration_ms, first_token_ms, dropped, notes, attempts, explanation
  from (select set_config('synchronous_commit', 'off', true)) as quick, json_to_recordset($1::json) as row (workspace_id text, id text, created_at timestamptz, key_id text, model text,
    provider text, protocol text, upstream_protocol text, status text, http_status integer, usage json, usage_source text,
    cost_nano bigint, duration_ms integer, first_token_ms integer, dropped json, notes json, attempts json, explanation json)
  on conflict do nothing`;

function wholeMs(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value);
}

function toColumns(row: RequestRow): object {
  return {
    workspace_id: row.workspaceId,
    id: row.id,
    created_at: row.createdAt.toISOString(),
    key_id: row.keyId,
    model: row.model,
    provider: row.provider,
    protocol: row.protocol,
    upstream_protocol: row.upstreamProtocol,
    status: row.status,
    http_status: row.httpStatus,
    usage: row.usage,
    usage_source: row.usageSource,
    cost_nano: String(row.costNano ?? 0n),
    duration_ms: wholeMs(row.durationMs),
    first_token_ms: wholeMs(row.firstTokenMs),
    dropped: row.dropped,
    notes: row.notes,
    attempts: row.attempts,
    explanation: row.explanation,
  };
}

/** What json columns take: bigints as decimal strings, text without U+0000 and without halves of surrogate pairs. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "string") return value;
  return value.includes("\0")
    ? value.toWellFormed().replaceAll("\0", "\ufffd")
    : value.toWellFormed();
}

/** A row as JSON text. The replacer is slow and rarely needed: only for bigints, U+0000 and halves of pairs. */
function textOf(row: RequestRow): string {
  const columns = toColumns(row);
  try {
    const text = JSON.stringify(columns);
    if (!/\\u(?:0000|d[89a-f])/i.test(text)) return text;
  } catch {
    // A bigint, which the replacer writes.
  }
  return JSON.stringify(columns, plain);
}

/** Tries a few times, then in halves, so that one bad row costs only itself. */
async function write(database: Database, log: Log, rows: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.query(insertSql, [`[${rows.join(",")}]`], { name: "requests_insert" });
      return;
    } catch (error) {
      if (attempt < attemptsMax && isTransient(error)) {
        await new Promise((resume) => setTimeout(resume, retryMs * attempt));
      } else if (rows.length > 1 && !isTransient(error)) {
        const half = rows.length >> 1;
        await write(database, log, rows.slice(0, half));
        await write(database, log, rows.slice(half));
        return;
      } else {
        log.error({ err: error, rows: rows.length }, "request log rows could not be written");
        return;
      }
    }
  }
}

/** A writer over `database`; call `flush` before closing it. */
export function createRequestLog(database: Database, log: Log): RequestLog {
  // Rows as JSON text already: what is queued cannot be changed by its owner any more, and its size is plain.
  let queue: string[] = [];
  let dropped = 0;
  let underWay: Promise<void> | undefined;
  /** Ends the waiting for more rows; undefined while nothing waits. */
  let hurry: (() => void) | undefined;
  let flushing = false;

  /** Rows of a while go out together: each transaction costs the database a write of its own, and nobody waits for these. */
  async function gather(): Promise<void> {
    if (flushing || queue.length >= batchMax) return;
    await new Promise<void>((resume) => {
      const timer = setTimeout(resume, gatherMs);
      hurry = () => {
        clearTimeout(timer);
        resume();
      };
    });
    hurry = undefined;
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await gather();
      const rows = queue.slice(0, batchMax);
      queue = queue.slice(batchMax);
      await write(database, log, rows);
    }
    if (dropped > 0)
      log.warn({ rows: dropped }, "request log rows were dropped: the queue was full");
    dropped = 0;
    underWay = undefined;
  }

  return {
    add(row) {
      if (queue.length >= queueMax) {
        dropped += 1;
        return;
      }
      try {
        queue.push(textOf(row));
      } catch (error) {
        log.error({ err: error, id: row.id }, "a request log row is not JSON");
        return;
      }
      underWay ??= drain();
      if (queue.length >= batchMax) hurry?.();
    },
    async flush() {
      flushing = true;
      hurry?.();
      await underWay;
      flushing = false;
    },
  };
}

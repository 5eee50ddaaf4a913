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

/** One row of `requests`. What is absent is stored as null, and so are empty lists. */
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
  /** Many rows may share one; it must not change. */
  readonly explanation?: object | undefined;
}

export interface RequestLog {
  /** Takes a row; never waits and never throws. A full queue drops it, counted and logged. */
  add(row: RequestRow): void;
  /** Resolves when everything added so far is written or given up. */
  flush(): Promise<void>;
}

/**
 * A row as it waits. What many rows have in common is one text, its `head`, which the database is sent once a batch: most
 * rows of a while differ only in the rest.
 */
interface Queued {
  readonly head: string;
  readonly id: string;
  readonly createdMs: number;
  readonly costNano: bigint;
  readonly durationMs: number | undefined;
  readonly firstTokenMs: number | undefined;
  /** JSON, or empty. */
  readonly usage: string;
  readonly attempts: string;
}

const headColumns =
  "workspace_id, key_id, model, provider, protocol, upstream_protocol, status, http_status, usage_source, dropped, notes, explanation";

// JSON has no line ends of its own, so lists of it need no escaping between them.
// The log may lose its last moments in a crash of the server; waiting for the disk each time would slow the ledger beside it.
const insertSql = `
  insert into requests (${headColumns}, id, created_at, cost_nano, duration_ms, first_token_ms, usage, attempts)
  select ${headColumns}, row.id, timestamptz 'epoch' + row.created_ms * interval '1 millisecond', row.cost_nano, row.duration_ms,
    row.first_token_ms, row.usage::json, row.attempts::json
  from (select set_config('synchronous_commit', 'off', true)) as quick,
    unnest($2::integer[], string_to_array($3, E'\n'), $4::bigint[], $5::bigint[], $6::integer[], $7::integer[],
      string_to_array($8, E'\n', ''), string_to_array($9, E'\n', ''))
      as row (head, id, created_ms, cost_nano, duration_ms, first_token_ms, usage, attempts)
  join rows from (json_to_recordset($1::json) as (workspace_id text, key_id text, model text, provider text, protocol text,
    upstream_protocol text, status text, http_status integer, usage_source text, dropped json, notes json, explanation json))
    with ordinality as head on head.ordinality = row.head`;

/** What json columns take: bigints as decimal strings, text without U+0000 and without halves of surrogate pairs. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "string") return value;
  return value.includes("\0")
    ? value.toWellFormed().replaceAll("\0", "\ufffd")
    : value.toWellFormed();
}

/** JSON text. The replacer is slow and rarely needed: only for bigints, U+0000 and halves of pairs. */
function textOf(value: object): string {
  try {
    const text = JSON.stringify(value);
    if (!/\\u(?:0000|d[89a-f])/i.test(text)) return text;
  } catch {
    // A bigint, which the replacer writes.
  }
  return JSON.stringify(value, plain);
}

const rounded = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.round(ms);

const notEmpty = <Item>(items: readonly Item[] | undefined): readonly Item[] | undefined =>
  items?.length === 0 ? undefined : items;

const headsMax = 1_000;

/** Makes heads, and keeps those it has made: a text is only looked up while the same callers ask for the same things. */
function createHeads(): (row: RequestRow) => string {
  const explanations = new WeakMap<object, string>();
  const made = new Map<string, string>();

  function explanationOf(row: RequestRow): string {
    if (row.explanation === undefined) return "";
    let text = explanations.get(row.explanation);
    if (text === undefined) {
      text = textOf(row.explanation);
      explanations.set(row.explanation, text);
    }
    return text;
  }

  function make(row: RequestRow): string {
    return textOf({
      workspace_id: row.workspaceId,
      key_id: row.keyId,
      model: row.model,
      provider: row.provider,
      protocol: row.protocol,
      upstream_protocol: row.upstreamProtocol,
      status: row.status,
      http_status: row.httpStatus,
      usage_source: row.usageSource,
      dropped: notEmpty(row.dropped),
      notes: notEmpty(row.notes),
      explanation: row.explanation,
    });
  }

  return (row) => {
    // Notes are the caller's own: such heads are not kept.
    if (row.dropped?.length || row.notes?.length) return make(row);
    const name =
      `${row.workspaceId}\n${row.keyId}\n${row.model}\n${row.provider}\n${row.protocol}\n${row.upstreamProtocol}\n` +
      `${row.status}\n${row.httpStatus}\n${row.usageSource}\n${explanationOf(row)}`;
    let head = made.get(name);
    if (head === undefined) {
      head = make(row);
      if (made.size >= headsMax) made.clear();
      made.set(name, head);
    }
    return head;
  };
}

function insertParams(rows: readonly Queued[]): string[] {
  const heads = new Map<string, number>();
  const places = rows.map(({ head }) => {
    const place = heads.get(head) ?? heads.size + 1;
    heads.set(head, place);
    return place;
  });
  const numbers = (of: (row: Queued) => number | bigint | undefined): string =>
    `{${rows.map((row) => of(row) ?? "null").join(",")}}`;
  return [
    `[${[...heads.keys()].join(",")}]`,
    `{${places.join(",")}}`,
    rows.map(({ id }) => id).join("\n"),
    numbers((row) => row.createdMs),
    numbers((row) => row.costNano),
    numbers((row) => row.durationMs),
    numbers((row) => row.firstTokenMs),
    rows.map(({ usage }) => usage).join("\n"),
    rows.map(({ attempts }) => attempts).join("\n"),
  ];
}

const uniqueViolation = "23505";

async function insert(database: Database, rows: readonly Queued[]): Promise<void> {
  const params = insertParams(rows);
  try {
    await database.query(insertSql, params, { name: "requests_insert", embedded: true });
  } catch (error) {
    // A row is there already: of an attempt whose answer was lost. To look for each beforehand would cost every batch.
    if ((error as { code?: unknown }).code !== uniqueViolation) throw error;
    await database.query(`${insertSql} on conflict do nothing`, params);
  }
}

/** Tries a few times, then in halves, so that one bad row costs only itself. */
async function write(database: Database, log: Log, rows: readonly Queued[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await insert(database, rows);
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
  // As texts and numbers already: what is queued cannot be changed by its owner any more, and its size is plain.
  let queue: Queued[] = [];
  const headOf = createHeads();
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
        if (/[\n\0]/.test(row.id)) throw new Error("an id has no line ends");
        queue.push({
          head: headOf(row),
          id: row.id,
          createdMs: row.createdAt.getTime(),
          costNano: row.costNano ?? 0n,
          durationMs: rounded(row.durationMs),
          firstTokenMs: rounded(row.firstTokenMs),
          usage: row.usage === undefined ? "" : textOf(row.usage),
          attempts: row.attempts?.length ? textOf(row.attempts) : "",
        });
      } catch (error) {
        log.error({ err: error, id: row.id }, "a request log row cannot be written");
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

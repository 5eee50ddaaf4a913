/**
 * Inserts rows into `requests`, a batch per statement, after the heads they need. Each head is sent once. The statement checks that every
 * head exists, and fails if one does not (after a restore of a backup, or a deletion): then all heads are sent again. So the memory of sent
 * heads only saves work. Neither insert waits for the disk: a crash of the server loses the log's last moments, but never a head without
 * the rows after it.
 */
import { latePart } from "../base/ids.ts";
import { codeOf, numberArray, type Database } from "../storage/index.ts";
import type { Head, Queued } from "./heads.ts";

/** Columns that a row may hold itself instead of its head, and their types. */
const ownColumns = {
  key_id: "text",
  model: "text",
  provider: "text",
  protocol: "text",
  upstream_protocol: "text",
  status: "text",
  http_status: "integer",
  usage_source: "text",
  usage: "json",
  dropped: "json",
  notes: "json",
  attempts: "json",
  explanation: "json",
  price: "json",
  stream: "boolean",
  error_message: "text",
  tags: "json",
  end_user: "text",
} as const;
const ownNames = Object.keys(ownColumns).join(", ");
const typed = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(", ");

interface Variant {
  /** True if some row has values of its own. */
  readonly own: boolean;
  /** True if existing rows are skipped, and costs checked against the ledger. */
  readonly again: boolean;
}

/**
 * A row's cost; 0 if its charge is gone. A charge is confirmed before its row is written, but a standby that lacks the last commits may
 * have taken the primary's place in between.
 */
const checkedCost = `case when row.cost_nano <> 0 and not exists (select from ledger_entries x
      where x.workspace_id = ($1::text[])[row.head] and x.reference in (row.id, row.id || '${latePart}') and x.kind = 'charge')
      then 0 else row.cost_nano end`;

// JSON and ids contain no line ends, so lists of them are joined by line ends without escapes.
// The log may lose its last moments in a crash of the server; a wait for the disk each time would slow the ledger beside it.
// Lists are unnested in the select list: in the from clause PostgreSQL would store each once more.
// No charge leads to rows without cost, so they are noted for the sums (storage/baseline/11_usage.sql).
const insertSql = ({ own, again }: Variant): string => `
  with written as (insert into requests (workspace_id, head, id, created_at, cost_nano, duration_ms, first_token_ms, usage_counts,
    attempt_started_ms, attempt_duration_ms${own ? `, ${ownNames}` : ""})
  select ($1::text[])[row.head], ($2::uuid[])[row.head], row.id,
    timestamptz 'epoch' + row.created_ms * interval '1 millisecond', ${again ? checkedCost : "row.cost_nano"}, row.duration_ms, row.first_token_ms,
    row.counts, row.started_ms, row.attempt_ms${own ? `, ${ownNames}` : ""}
  from (select set_config('synchronous_commit', 'off', true)) as quick,
    (select unnest($3::integer[]) as head, unnest(string_to_array($4, E'\\n')) as id, unnest($5::bigint[]) as created_ms,
      unnest($6::bigint[]) as cost_nano, unnest($7::integer[]) as duration_ms, unnest($8::integer[]) as first_token_ms,
      unnest(string_to_array($9, E'\\n', '')) as counts, unnest($10::integer[]) as started_ms,
      unnest($11::integer[]) as attempt_ms${own ? ", unnest($12::integer[]) as own" : ""}) as row
  ${
    own
      ? `left join rows from (json_to_recordset($13::json) as (${typed(ownColumns)})) with ordinality as own
           on own.ordinality = row.own`
      : ""
  }
  where request_heads_there($1, $2)
  ${again ? "on conflict do nothing" : ""} returning workspace_id, id, cost_nano)
  insert into usage_pending (workspace_id, id) select workspace_id, id from written where cost_nano = 0`;

const headColumns = {
  workspace_id: "text",
  key_id: "text",
  model: "text",
  provider: "text",
  protocol: "text",
  upstream_protocol: "text",
  status: "text",
  http_status: "integer",
  usage_source: "text",
  usage_format: "text",
  attempt: "json",
  explanation: "json",
  price: "json",
  stream: "boolean",
  month: "date",
} as const;
const headNames = `id, ${Object.keys(headColumns).join(", ")}`;

const headsSql = `
  insert into request_heads (${headNames})
  select given.*
  from (select set_config('synchronous_commit', 'off', true)) as quick,
    rows from (unnest($1::uuid[]), json_to_recordset($2::json) as (${typed(headColumns)})) as given (${headNames})
  on conflict do nothing`;

interface Batch {
  readonly heads: readonly Head[];
  readonly own: boolean;
  readonly params: readonly unknown[];
}

function batchOf(rows: readonly Queued[]): Batch {
  // Rows without a head also share a value: their workspace.
  const places = new Map<Head | string, number>();
  const placeOf = (key: Head | string): number => {
    const place = places.get(key) ?? places.size + 1;
    places.set(key, place);
    return place;
  };
  const numbers = (of: (row: Queued) => number | bigint | undefined): string =>
    numberArray(rows.map(of));
  const texts = (of: (row: Queued) => string): string => rows.map(of).join("\n");
  const rowPlaces = numbers((row) => placeOf(row.head ?? row.workspaceId));
  const shared = [...places.keys()];
  const owns = rows.flatMap(({ own }) => (own === "" ? [] : [own]));
  let written = 0;
  return {
    heads: shared.filter((key) => typeof key !== "string"),
    own: owns.length > 0,
    params: [
      shared.map((key) => (typeof key === "string" ? key : key.workspaceId)),
      shared.map((key) => (typeof key === "string" ? null : key.id)),
      rowPlaces,
      texts(({ id }) => id),
      numbers(({ createdMs }) => createdMs),
      numbers(({ costNano }) => costNano),
      numbers(({ durationMs }) => durationMs),
      numbers(({ firstTokenMs }) => firstTokenMs),
      texts(({ counts }) => counts),
      numbers(({ attempt }) => attempt?.startedMs),
      numbers(({ attempt }) => attempt?.durationMs),
      ...(owns.length > 0
        ? [numbers(({ own }) => (own === "" ? undefined : (written += 1))), `[${owns.join(",")}]`]
        : []),
    ],
  };
}

const sqlOf = {
  plain: insertSql({ own: false, again: false }),
  own: insertSql({ own: true, again: false }),
};

const uniqueViolation = "23505";
const headMissing = "TG001";

async function insertOnce(
  database: Database,
  { own, params }: Batch,
  again: boolean,
): Promise<void> {
  if (again) return void (await database.query(insertSql({ own, again }), params));
  const name = own ? "requests_insert_own" : "requests_insert";
  try {
    await database.query(own ? sqlOf.own : sqlOf.plain, params, { name });
  } catch (error) {
    // The row exists from an attempt whose answer was lost. Checking each row beforehand would cost every batch.
    if (codeOf(error) !== uniqueViolation) throw error;
    await database.query(insertSql({ own, again: true }), params);
  }
}

async function insertHeads(database: Database, heads: readonly Head[]): Promise<void> {
  // The same order everywhere: writers of the same heads then wait for each other without deadlocks.
  const sorted = heads.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  await database.query(headsSql, [
    sorted.map(({ id }) => id),
    `[${sorted.map(({ text }) => text).join(",")}]`,
  ]);
}

/** Writes rows. `again`: an earlier attempt failed. */
export type Insert = (rows: readonly Queued[], again: boolean) => Promise<void>;

/** Returns a function that writes rows and the heads they need: all of the rows or none. It throws what the database throws. */
export function createInserter(database: Database): Insert {
  const sent = new WeakSet<Head>();

  async function send(heads: readonly Head[]): Promise<void> {
    if (heads.length === 0) return;
    await insertHeads(database, heads);
    for (const head of heads) sent.add(head);
  }

  return async (rows, again) => {
    const batch = batchOf(rows);
    await send(batch.heads.filter((head) => !sent.has(head)));
    try {
      await insertOnce(database, batch, again);
    } catch (error) {
      if (codeOf(error) !== headMissing) throw error;
      await send(batch.heads);
      await insertOnce(database, batch, again);
    }
  };
}

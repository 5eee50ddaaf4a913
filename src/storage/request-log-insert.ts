/**
 * Rows into `requests`, a batch in one statement. The statement writes nothing where it finds a head missing, and says which:
 * then the heads are written, and it runs again. So no row refers to a head that is not there, whatever became of the
 * database meanwhile, and nobody has to remember what is in it. Both are written without waiting for the disk: a crash of the
 * server takes the log's last moments, and never a head without the rows after it.
 */
import type { Database } from "./database.ts";
import type { Head, Queued } from "./request-log-heads.ts";

/** Columns a row may tell itself instead of its head, and their types. */
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
} as const;
const ownNames = Object.keys(ownColumns).join(", ");
const typed = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(", ");

interface Variant {
  /** Some row tells something itself. */
  readonly own: boolean;
  /** Rows that are there already are passed over. */
  readonly again: boolean;
}

// JSON and ids have no line ends of their own, so lists of them need no escaping between them.
// The log may lose its last moments in a crash of the server; waiting for the disk each time would slow the ledger beside it.
const insertSql = ({ own, again }: Variant): string => `
  with heads as materialized (select request_heads_missing($1::text[], $2::uuid[]) as missing),
  written as (
    insert into requests (workspace_id, head, id, created_at, cost_nano, duration_ms, first_token_ms, usage_counts,
      attempt_started_ms, attempt_duration_ms${own ? `, ${ownNames}` : ""})
    select ($1::text[])[row.head], ($2::uuid[])[row.head], row.id,
      timestamptz 'epoch' + row.created_ms * interval '1 millisecond', row.cost_nano, row.duration_ms, row.first_token_ms,
      row.counts, row.started_ms, row.attempt_ms${own ? `, ${ownNames}` : ""}
    from (select set_config('synchronous_commit', 'off', true)) as quick,
      unnest($3::integer[], string_to_array($4, E'\\n'), $5::bigint[], $6::bigint[], $7::integer[], $8::integer[],
        string_to_array($9, E'\\n', ''), $10::integer[], $11::integer[]${own ? ", $12::integer[]" : ""})
        as row (head, id, created_ms, cost_nano, duration_ms, first_token_ms, counts, started_ms, attempt_ms${own ? ", own" : ""})
    ${
      own
        ? `left join rows from (json_to_recordset($13::json) as (${typed(ownColumns)})) with ordinality as own
             on own.ordinality = row.own`
        : ""
    }
    where (select missing from heads) = '{}'
    ${again ? "on conflict do nothing" : ""}
  )
  select missing from heads`;

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
} as const;
const headNames = `id, ${Object.keys(headColumns).join(", ")}`;

const headsSql = `
  insert into request_heads (${headNames})
  select given.*
  from (select set_config('synchronous_commit', 'off', true)) as quick,
    rows from (unnest($1::uuid[]), json_to_recordset($2::json) as (${typed(headColumns)})) as given (${headNames})
  on conflict do nothing`;

interface Batch {
  readonly heads: readonly (Head | undefined)[];
  readonly own: boolean;
  readonly params: readonly unknown[];
}

function batchOf(rows: readonly Queued[]): Batch {
  // Rows without a head share what they have in common as well: their workspace.
  const places = new Map<Head | string, number>();
  const placeOf = (key: Head | string): number => {
    const place = places.get(key) ?? places.size + 1;
    places.set(key, place);
    return place;
  };
  const numbers = (of: (row: Queued) => number | bigint | undefined): string =>
    `{${rows.map((row) => of(row) ?? "null").join(",")}}`;
  const texts = (of: (row: Queued) => string): string => rows.map(of).join("\n");
  const rowPlaces = numbers((row) => placeOf(row.head ?? row.workspaceId));
  const shared = [...places.keys()];
  const heads = shared.map((key) => (typeof key === "string" ? undefined : key));
  const owns = rows.flatMap(({ own }) => (own === "" ? [] : [own]));
  let told = 0;
  return {
    heads,
    own: owns.length > 0,
    params: [
      shared.map((key) => (typeof key === "string" ? key : key.workspaceId)),
      heads.map((head) => head?.id ?? null),
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
        ? [numbers(({ own }) => (own === "" ? undefined : (told += 1))), `[${owns.join(",")}]`]
        : []),
    ],
  };
}

const sqlOf = {
  plain: insertSql({ own: false, again: false }),
  own: insertSql({ own: true, again: false }),
};

const uniqueViolation = "23505";

/** Runs the statement; resolves with the places of the heads it misses, and has written nothing where there are any. */
async function tryInsert(database: Database, { own, params }: Batch): Promise<number[]> {
  try {
    const rows = await database.query<{ missing: number[] }>(
      own ? sqlOf.own : sqlOf.plain,
      params,
      { name: own ? "requests_insert_own" : "requests_insert", embedded: true },
    );
    return rows[0]!.missing;
  } catch (error) {
    // A row is there already: of an attempt whose answer was lost. To look for each beforehand would cost every batch.
    if ((error as { code?: unknown }).code !== uniqueViolation) throw error;
    const rows = await database.query<{ missing: number[] }>(
      insertSql({ own, again: true }),
      params,
    );
    return rows[0]!.missing;
  }
}

/** Writes rows with the heads they need, all or none of the rows. @throws what the database throws */
export async function insertRows(database: Database, rows: readonly Queued[]): Promise<void> {
  const batch = batchOf(rows);
  const missing = await tryInsert(database, batch);
  if (missing.length === 0) return;
  // In one order everywhere: two writers of the same heads wait for each other at most once.
  const heads = missing
    .map((place) => batch.heads[place - 1]!)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  await database.query(headsSql, [
    heads.map(({ id }) => id),
    `[${heads.map(({ text }) => text).join(",")}]`,
  ]);
  if ((await tryInsert(database, batch)).length > 0)
    throw new Error("heads of the request log were written and are not there");
}

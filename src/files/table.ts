/**
 * The table of kept files: whose each is, what it holds, and until when. The sweep removes what is past its time, in small
 * batches, whatever the number (T86). Rows STORE; the table is in storage/baseline/12_tasks.sql.
 */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { persist, reserveRetryMs, type Database, type Queryable } from "../storage/index.ts";
import type { FileStore } from "./store.ts";

export interface FileRow {
  /** Its name in the file store, and in its address. */
  readonly name: string;
  readonly workspaceId: string;
  readonly taskId: string | null;
  /**
   * `result`: produced, served under `/files`. `input`: uploaded, kept until its task has ended. `answer`: the whole answer
   * of a call with an idempotency key, for its replays. `thumbnail`: a small copy of a produced picture.
   */
  readonly purpose: "input" | "result" | "answer" | "thumbnail";
  readonly mediaType: string;
  readonly bytes: number;
  readonly createdAt: Date;
  /** From then on it is as if it did not exist. */
  readonly expiresAt: Date;
}

type StoredRow = SnakeCased<Omit<FileRow, "bytes">> & { readonly bytes: bigint };

const columns = "name, workspace_id, task_id, purpose, media_type, bytes, created_at, expires_at";

/**
 * Writes a file's row, or writes it anew. Record it before its bytes are put, with an expiry that is near, and again once
 * they are there: a crash in between then leaves nothing that the sweep does not find.
 */
export async function recordFile(tx: Queryable, row: FileRow): Promise<void> {
  await tx.query(
    `insert into files (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (name) do update set
       task_id = excluded.task_id, media_type = excluded.media_type, bytes = excluded.bytes, expires_at = excluded.expires_at`,
    [
      row.name,
      row.workspaceId,
      row.taskId,
      row.purpose,
      row.mediaType,
      row.bytes,
      row.createdAt,
      row.expiresAt,
    ],
  );
}

/**
 * The row of a file that has not expired at `now`; undefined where there is none. Waits a moment for a database that is away.
 * @throws GatewayError database_unavailable
 */
export async function findFile(
  database: Database,
  name: string,
  now: Date,
): Promise<FileRow | undefined> {
  const [row] = await persist(reserveRetryMs, () =>
    database.query<StoredRow>(
      `select ${columns} from files where name = $1 and expires_at > $2`,
      [name, now],
      { name: "find_file" },
    ),
  );
  return row && { ...camelCased(row), bytes: Number(row.bytes) };
}

/** Until when each of these files is kept; those that are gone at `now` are left out. */
export async function fileExpiries(
  database: Queryable,
  names: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, Date>> {
  if (names.length === 0) return new Map();
  const rows = await database.query<Pick<StoredRow, "name" | "expires_at">>(
    "select name, expires_at from files where name = any($1::text[]) and expires_at > $2",
    [names, now],
  );
  return new Map(rows.map(({ name, expires_at: at }) => [name, at]));
}

/** Says which task uploads belong to, in the transaction that makes it; they end with it. */
export async function assignInputs(
  tx: Queryable,
  names: readonly string[],
  { workspaceId, taskId }: { readonly workspaceId: string; readonly taskId: string },
): Promise<void> {
  await tx.query(
    `update files set task_id = $3 where workspace_id = $1 and name = any($2) and purpose = 'input'`,
    [workspaceId, names, taskId],
  );
}

/** Says until when files are kept. */
export async function expireFilesAt(
  tx: Queryable,
  names: readonly string[],
  expiresAt: Date,
): Promise<void> {
  await tx.query("update files set expires_at = $2 where name = any($1)", [names, expiresAt]);
}

const batchSize = 100;
const parallelMax = 8;

/** What a sweep did. */
export interface Swept {
  readonly removed: number;
  readonly failed: number;
  /** Of the first file that was not removed. */
  readonly error: unknown;
}

/**
 * Removes what has expired at `now`, first the bytes, then the row, so that a crash leaves nothing unknown. Several sweepers
 * may run at once: removing twice is no error. What the store fails to remove keeps its row for the next sweep.
 */
export async function sweepFiles(database: Database, store: FileStore, now: Date): Promise<Swept> {
  let removed = 0;
  let failed = 0;
  let error: unknown;
  // As text: a Date would lose the microseconds, and the sweep would meet the same rows again.
  let after = { expires: "-infinity", name: "" };
  for (;;) {
    const rows = await database.query<{ name: string; expires: string }>(
      `select name, expires_at::text as expires from files
       where expires_at <= $1 and (expires_at, name) > ($2::timestamptz, $3)
       order by expires_at, name limit $4`,
      [now, after.expires, after.name, batchSize],
    );
    if (rows.length === 0) return { removed, failed, error };
    after = rows.at(-1)!;
    const gone = await removeAll(
      store,
      rows.map((row) => row.name),
      (reason) => (error ??= reason),
    );
    failed += rows.length - gone.length;
    const deleted = await database.query<{ name: string }>(
      "delete from files where name = any($1) and expires_at <= $2 returning name",
      [gone, now],
    );
    removed += deleted.length;
  }
}

/** Removes files from the store, a few at a time; returns the names of those that are gone. */
async function removeAll(
  store: FileStore,
  names: readonly string[],
  onFailure: (error: unknown) => void,
): Promise<string[]> {
  const waiting = [...names];
  const gone: string[] = [];
  const work = async (): Promise<void> => {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      try {
        await store.remove(name);
        gone.push(name);
      } catch (error) {
        // Counted as failed; its row stays.
        onFailure(error);
      }
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, work));
  return gone;
}

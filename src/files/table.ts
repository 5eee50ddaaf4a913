/**
 * The table of stored files: the owner, the contents and the expiry of each. The sweep removes expired files in small batches, whatever
 * their number (T86). Rows STORE; the table is in storage/baseline/12_tasks.sql.
 */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { retryWhileAway, reserveRetryMs, type Database, type Queryable } from "../storage/index.ts";
import type { FileStore } from "./store.ts";

export interface FileRow {
  /** Its name in the file store, and in its URL. */
  readonly name: string;
  readonly workspaceId: string;
  readonly taskId: string | null;
  /**
   * `result`: produced, served under `/files`. `input`: uploaded, stored until its task has ended. `answer`: the whole answer of a call
   * with an idempotency key, for its replays. `thumbnail`: a small copy of a produced picture.
   */
  readonly purpose: "input" | "result" | "answer" | "thumbnail";
  readonly mediaType: string;
  readonly bytes: number;
  readonly createdAt: Date;
  /** From then on it counts as not existing. */
  readonly expiresAt: Date;
}

type StoredRow = SnakeCased<Omit<FileRow, "bytes">> & { readonly bytes: bigint };

const columns = "name, workspace_id, task_id, purpose, media_type, bytes, created_at, expires_at";

/**
 * Inserts or updates a file's row. Record it with a near expiry before you put its bytes, and again when they are stored: then the sweep
 * finds everything that a crash in between leaves.
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
 * Returns the row of a file that has not expired at `now`; undefined if there is none. Retries for a moment while the database is away.
 * @throws GatewayError database_unavailable
 */
export async function findFile(
  database: Database,
  name: string,
  now: Date,
): Promise<FileRow | undefined> {
  const [row] = await retryWhileAway(reserveRetryMs, () =>
    database.query<StoredRow>(
      `select ${columns} from files where name = $1 and expires_at > $2`,
      [name, now],
      { name: "find_file" },
    ),
  );
  return row && { ...camelCased(row), bytes: Number(row.bytes) };
}

/** Returns the expiry of each file; leaves out those that have expired at `now`. */
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

/** Assigns uploads to a task, in the transaction that creates it; they end with the task. */
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

/** Sets the expiry of files. */
export async function expireFilesAt(
  tx: Queryable,
  names: readonly string[],
  expiresAt: Date,
): Promise<void> {
  await tx.query("update files set expires_at = $2 where name = any($1)", [names, expiresAt]);
}

const batchSize = 100;
const parallelMax = 8;

/** The result of a sweep. */
export interface Swept {
  readonly removed: number;
  readonly failed: number;
  /** The error of the first file that was not removed. */
  readonly error: unknown;
}

/**
 * Removes files that have expired at `now`: first the bytes, then the row, so that a crash leaves no file without a row. Several sweepers
 * may run at once: removing a file twice is no error. If the store fails to remove a file, its row stays for the next sweep. When `ended`
 * aborts, no removal is waited for: a bucket that does not answer takes minutes for each.
 */
export async function sweepFiles(
  database: Database,
  store: FileStore,
  now: Date,
  ended: AbortSignal = new AbortController().signal,
): Promise<Swept> {
  let removed = 0;
  let failed = 0;
  let error: unknown;
  // As text: a Date would lose the microseconds, and the sweep would read the same rows again.
  let after = { expires: "-infinity", name: "" };
  while (!ended.aborted) {
    const rows = await database.query<{ name: string; expires: string }>(
      `select name, expires_at::text as expires from files
       where expires_at <= $1 and (expires_at, name) > ($2::timestamptz, $3)
       order by expires_at, name limit $4`,
      [now, after.expires, after.name, batchSize],
    );
    if (rows.length === 0) break;
    after = rows.at(-1)!;
    const onFailure = (reason: unknown): void => {
      failed += 1;
      error ??= reason;
    };
    const names = rows.map((row) => row.name);
    const gone = await removeAll(store, names, { onFailure, ended });
    const deleted = await database.query<{ name: string }>(
      "delete from files where name = any($1) and expires_at <= $2 returning name",
      [gone, now],
    );
    removed += deleted.length;
  }
  return { removed, failed, error };
}

interface Removing {
  readonly onFailure: (error: unknown) => void;
  readonly ended: AbortSignal;
}

/** Removes files from the store, a few at a time; returns the names of those that are gone. */
async function removeAll(
  store: FileStore,
  names: readonly string[],
  { onFailure, ended }: Removing,
): Promise<string[]> {
  const waiting = [...names];
  const gone: string[] = [];
  const work = async (): Promise<void> => {
    for (let name = waiting.pop(); name !== undefined && !ended.aborted; name = waiting.pop()) {
      try {
        await store.remove(name);
        gone.push(name);
      } catch (error) {
        // Its row stays.
        onFailure(error);
      }
    }
  };
  const over = Promise.withResolvers<void>();
  const end = (): void => over.resolve();
  ended.addEventListener("abort", end);
  const all = Promise.all(Array.from({ length: parallelMax }, work));
  await Promise.race([all, over.promise]);
  ended.removeEventListener("abort", end);
  return [...gone];
}

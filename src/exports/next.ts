/**
 * Runs the setting `exports`: exports each finished day once, the oldest first. The file is stored whole, then the day is recorded.
 * If a process ends in between, the next one writes the same file again. Only one process exports at a time.
 */
import { dayText } from "../base/days.ts";
import { dayMs } from "../base/durations.ts";
import type { ExportFormat } from "../base/export-place.ts";
import { idMs } from "../base/ids.ts";
import type { FileStore } from "../files/index.ts";
import type { Database, Queryable } from "../storage/index.ts";
import { fileBeforeRestore } from "./before-restore.ts";
import { exportDay, type DayFile } from "./day.ts";
import type { ExportKind } from "./lines.ts";
import { closedMs } from "./open-calls.ts";

/** An arbitrary number that no other lock in the database uses. */
const lockKey = 7_409_318_200_457n;

/** Seconds of allowance for calls under way that gateways have not reported: clocks differ, gateways sleep. */
const marginSeconds = 3 * 3_600;

/** Request log: the time of the oldest row that no file has yet, in the format of ids. */
const firstRequestSql = `
  select min(least(
      (select left(split_part(min(r.id), '_', 2), 10) from requests r where r.workspace_id = w.id
        and r.id >= 'req_' || l.low and r.id < 'req_z'),
      (select left(split_part(min(r.id), '_', 2), 10) from requests r where r.workspace_id = w.id
        and r.id >= 'task_' || l.low and r.id < 'task_z'))) as first
  from workspaces w cross join (
    select coalesce(id_time((max(day) + 1)::timestamp at time zone 'UTC'), '') as low from exported_days where what = 'requests') l`;

/**
 * Ledger: the start of the entries that no file has yet, and the end of the closed time. The database sets its times, so entries
 * are never late.
 */
const ledgerSql = `
  select extract(epoch from coalesce(
      (select (max(day) + 1)::timestamp at time zone 'UTC' from exported_days where what = 'ledger'),
      (select min(x.created_at) from ledger_accounts a cross join lateral (
        select e.created_at from ledger_entries e where e.workspace_id = a.workspace_id and e.entry > 0 order by e.entry limit 1) x)))::float8 * 1000 as first,
    extract(epoch from now() - interval '10 minutes')::float8 * 1000 as closed`;

/** Times in ms since 1970: `first` is the start of the data that no file has; the data before `closed` is complete. */
interface Span {
  /** Null if files have everything. */
  readonly first: number | null;
  readonly closed: number;
}

async function spanOf(tx: Queryable, kind: ExportKind): Promise<Span> {
  if (kind === "ledger") return (await tx.query<Span>(ledgerSql, []))[0]!;
  const [row] = await tx.query<{ first: string | null }>(firstRequestSql, []);
  return {
    first: row!.first === null ? null : (idMs(row!.first) ?? null),
    closed: await closedMs(tx, marginSeconds),
  };
}

/** The next day to export, `YYYY-MM-DD`. Undefined if no day is over yet. */
async function nextDay(tx: Queryable, kind: ExportKind): Promise<string | undefined> {
  const { first, closed } = await spanOf(tx, kind);
  if (first === null) return undefined;
  const startMs = Math.floor(first / dayMs) * dayMs;
  return startMs + dayMs <= closed ? dayText(startMs) : undefined;
}

/** The file that was written. With `kept`, the file from before a restore was kept instead; its rows are not counted. */
interface Exported extends DayFile {
  readonly kept: boolean;
}

/** Exports the next day of a kind. @returns its file; undefined if no day is due or another process is exporting */
export function exportNext(
  database: Database,
  place: FileStore,
  kind: ExportKind,
  format?: ExportFormat,
): Promise<Exported | undefined> {
  return database.transaction(
    async (tx) => {
      const [lock] = await tx.query<{ mine: boolean }>(
        "select pg_try_advisory_xact_lock($1) as mine",
        [lockKey],
      );
      const day = lock?.mine === true ? await nextDay(tx, kind) : undefined;
      if (day === undefined) return undefined;
      const existing = await fileBeforeRestore(tx, place, { kind, day, format });
      const done = existing
        ? { ...existing, rows: 0, kept: true }
        : { ...(await exportDay(tx, place, { kind, day, format })), kept: false };
      await tx.query(
        "insert into exported_days (what, day, file, rows) values ($1, $2, $3, $4) on conflict do nothing",
        [kind, day, done.file, done.rows],
      );
      return done;
    },
    { isolation: "repeatable read", msMax: dayMs },
  );
}

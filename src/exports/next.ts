/**
 * What the setting `exports` asks for: each day that is over, once, the oldest first. The file is put whole, then the day is noted.
 * A process that ends in between leaves a file that the next one writes again, the same. One process of all exports at a time.
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

/** Any number that nothing else in the database locks. */
const lockKey = 7_409_318_200_457n;

/** For what is not known of calls under way: clocks that differ, gateways that sleep. */
const marginSeconds = 3 * 3_600;

/** Of the log: the time of the oldest row that is not in a file, as in ids. */
const firstRequestSql = `
  select min(least(
      (select left(split_part(min(r.id), '_', 2), 10) from requests r where r.workspace_id = w.id
        and r.id >= 'req_' || l.low and r.id < 'req_z'),
      (select left(split_part(min(r.id), '_', 2), 10) from requests r where r.workspace_id = w.id
        and r.id >= 'task_' || l.low and r.id < 'task_z'))) as first
  from workspaces w cross join (
    select coalesce(id_time((max(day) + 1)::timestamp at time zone 'UTC'), '') as low from exported_days where what = 'requests') l`;

/** Of the ledger: the first day that is not in a file, and what is closed. Its times are the database's, and never come late. */
const ledgerSql = `
  select extract(epoch from coalesce(
      (select (max(day) + 1)::timestamp at time zone 'UTC' from exported_days where what = 'ledger'),
      (select min(x.created_at) from ledger_accounts a cross join lateral (
        select e.created_at from ledger_entries e where e.workspace_id = a.workspace_id order by e.entry limit 1) x)))::float8 * 1000 as first,
    extract(epoch from now() - interval '10 minutes')::float8 * 1000 as closed`;

/** In milliseconds: where what is in no file begins, and up to where what there is is whole. */
interface Span {
  /** Null where everything is in files. */
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

/** The day that comes next, `YYYY-MM-DD`; undefined where none is over yet. */
async function nextDay(tx: Queryable, kind: ExportKind): Promise<string | undefined> {
  const { first, closed } = await spanOf(tx, kind);
  if (first === null) return undefined;
  const startMs = Math.floor(first / dayMs) * dayMs;
  return startMs + dayMs <= closed ? dayText(startMs) : undefined;
}

/** A file as it was written; or, `kept`, as it stands from before a restore, whose rows are not counted. */
interface Exported extends DayFile {
  readonly kept: boolean;
}

/** Exports the next day of a kind. @returns its file; undefined where there is none now, or another process is at it */
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
      const standing = await fileBeforeRestore(tx, place, { kind, day, format });
      const done = standing
        ? { ...standing, rows: 0, kept: true }
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

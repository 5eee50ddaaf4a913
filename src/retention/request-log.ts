/**
 * Deletes old parts of the request log, and old rows of parts that are only partly over. Keeps rows that the sums of usage lack, that a
 * running task or an open hold may need, and days that are still to be exported.
 */
import type { Queryable } from "../storage/index.ts";
import { logBounds } from "../usage/index.ts";

/** Rows that one step deletes: some tens of milliseconds. */
export const rowsMax = 2_000;
const headsMax = 2_000;

const timeOf = "min(left(split_part(id, '_', 2), 10))";

/** The time, in the form that ids have, before which rows may be deleted. */
const cutSql = `
  select least(
    id_time(((now() at time zone 'UTC')::date - $1::integer)::timestamp at time zone 'UTC'), $2::text,
    (select ${timeOf} from ledger_holds), (select ${timeOf} from tasks where due_at is not null),
    case when $3 then coalesce(
      (select id_time((max(day) + 1)::timestamp at time zone 'UTC') from exported_days where what = 'requests'), '') end) as cut`;

/** Deletes by the key, one workspace after another, so that a step reads only rows that it deletes. */
const deleteSql = (part: string): string => `
  with recursive w as (
    (select b.workspace_id from "${part}" b order by b.workspace_id limit 1)
    union all
    select (select b.workspace_id from "${part}" b where b.workspace_id > w.workspace_id order by b.workspace_id limit 1)
    from w where w.workspace_id is not null
  ), over as (
    select x.place from w cross join (values ('req_'), ('task_')) p (prefix)
    cross join lateral (select b.ctid as place from "${part}" b where b.workspace_id = w.workspace_id
      and b.id >= p.prefix and b.id < p.prefix || $1::text order by b.id limit $2) x
    limit $2
  ), gone as (delete from "${part}" b where b.ctid = any(array(select place from over)) returning 1)
  select count(*)::integer as n from gone`;

async function noteStart(tx: Queryable, cut: string): Promise<void> {
  await tx.query(
    `insert into request_log_start (id_time) values ($1)
     on conflict (only_row) do update set id_time = greatest(request_log_start.id_time, excluded.id_time)`,
    [cut],
  );
}

/** Parts that may have rows to delete, with the time that all their ids are before: the oldest first, the default part last. */
const partsSql = `
  select p.name, p.until, p.until <= $1 as over from request_parts p
  where p.until <= $1 or p.low is null or id_time(p.low::timestamp at time zone 'UTC') < $1
  order by p.until <= $1 desc nulls last, p.until nulls first`;

interface Part {
  readonly name: string;
  readonly until: string | null;
  readonly over: boolean | null;
}

/** Heads of months without rows. A row may refer to the month in which its call began, before or after the time of its id. */
const headsSql = `
  delete from request_heads where ctid = any(array(
    select ctid from request_heads where id_time((month + interval '1 month 2 days') at time zone 'UTC') < $1 limit ${headsMax}))
  returning 1`;

const bodiesMax = 500;

/** Stored bodies of calls whose rows are deleted: they cannot be read, and no erasure would find them. */
const bodiesSql = `
  delete from request_bodies b using (
    select x.workspace_id, x.id from workspaces w cross join lateral (
      select k.workspace_id, k.id from request_bodies k where k.workspace_id = w.id and k.id >= 'req_' and k.id < 'req_' || $1::text
      order by k.id limit ${bodiesMax}) x
    limit ${bodiesMax}) old
  where b.workspace_id = old.workspace_id and b.id = old.id returning 1`;

export interface LogRetention {
  readonly days: number;
  /** True if the settings export the log. */
  readonly isExported: boolean;
}

/** Runs one step. @returns how much went: rows, bodies, heads, or one part; 0 when there is nothing more to do, or not yet */
export async function requestLogStep(
  tx: Queryable,
  { days, isExported }: LogRetention,
): Promise<number> {
  const { low } = await logBounds(tx);
  const [row] = await tx.query<{ cut: string }>(cutSql, [days, low, isExported]);
  const cut = row?.cut ?? "";
  if (cut.length < 10) return 0;
  for (const { name, over } of await tx.query<Part>(partsSql, [cut])) {
    if (over === true) {
      await noteStart(tx, cut);
      await tx.query(`drop table "${name}"`);
      return 1;
    }
    const [gone] = await tx.query<{ n: number }>(deleteSql(name), [cut, rowsMax]);
    if (gone!.n === 0) continue;
    await noteStart(tx, cut);
    return gone!.n;
  }
  const bodies = await tx.query(bodiesSql, [cut]);
  return bodies.length > 0 ? bodies.length : (await tx.query(headsSql, [cut])).length;
}

/**
 * What goes of the request log: whole parts, and rows of parts that are over in part only. Never what the sums of usage do not have
 * yet, what a task that runs or an open hold may still ask for, or a day that is to be exported and was not.
 */
import type { Queryable } from "../storage/index.ts";
import { logBounds } from "../usage/index.ts";

/** Rows that go in one step: some tens of milliseconds. */
export const rowsMax = 2_000;
const headsMax = 2_000;

const timeOf = "min(left(split_part(id, '_', 2), 10))";

/** A time as in ids: everything before it may go. */
const cutSql = `
  select least(
    id_time(((now() at time zone 'UTC')::date - $1::integer)::timestamp at time zone 'UTC'), $2::text,
    (select ${timeOf} from ledger_holds), (select ${timeOf} from tasks where due_at is not null),
    case when $3 then coalesce(
      (select id_time((max(day) + 1)::timestamp at time zone 'UTC') from exported_days where what = 'requests'), '') end) as cut`;

/** By the key, one workspace after the other, so that a step reads what it removes. */
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

/** Parts that may have something to go: with the time that their ids are all before, those of before and the default one first. */
const partsSql = `
  select p.name, p.until, p.until <= $1 as over from request_parts p
  where p.until <= $1 or p.low is null or id_time(p.low::timestamp at time zone 'UTC') < $1
  order by p.until <= $1 desc nulls last, p.until nulls first`;

interface Part {
  readonly name: string;
  readonly until: string | null;
  readonly over: boolean | null;
}

/** Heads of months whose every row is gone; a row may refer to the month that it began in, at either side of its id's time. */
const headsSql = `
  delete from request_heads where ctid = any(array(
    select ctid from request_heads where id_time((month + interval '1 month 2 days') at time zone 'UTC') < $1 limit ${headsMax}))
  returning 1`;

const bodiesMax = 500;

/** Kept bodies of calls whose rows are gone: nobody could read them, and no erasure would find them. */
const bodiesSql = `
  delete from request_bodies b using (
    select x.workspace_id, x.id from workspaces w cross join lateral (
      select k.workspace_id, k.id from request_bodies k where k.workspace_id = w.id and k.id >= 'req_' and k.id < 'req_' || $1::text
      order by k.id limit ${bodiesMax}) x
    limit ${bodiesMax}) old
  where b.workspace_id = old.workspace_id and b.id = old.id returning 1`;

export interface LogRetention {
  readonly days: number;
  /** Whether the setting exports the log. */
  readonly isExported: boolean;
}

/** One step. @returns how much went: rows, bodies, heads, or one part; 0 when there is nothing more to do, or not yet */
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

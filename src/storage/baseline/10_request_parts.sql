-- The parts of the request log: retention drops old tables, and a query about a day reads that day. src/retention. There are two kinds
-- of ids, req_ and task_, with their own parts. Rows that no part takes go to the default part (a clock that is wrong by more than a
-- week, an id of another kind): no row is ever refused.

-- The time part of an id (src/base/ids.ts). It sorts after the ids of earlier times.
create function id_time(p_at timestamptz) returns text language sql immutable strict parallel safe as $$
  select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((t.ms >> (5 * (9 - place))) & 31)::integer, 1), '' order by place)
  from (select greatest(0, floor(extract(epoch from p_at) * 1000))::bigint as ms) t, generate_series(0, 9) place
$$;

create table requests_default partition of requests default;

-- The parts. Their names contain their days in UTC: from low up to, but not including, high. The parts before the first day have
-- neither. Every id of a part has a smaller time than `until`, which is null for the default part.
create view request_parts as
  select c.relname::text as name,
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''[a-z]+_([0-9a-z]{10})''\)') as until,
    case when c.relname = 'requests_default' then null when c.relname like 'requests\_task%' then 'task' else 'req' end as kind,
    case when c.relname ~ '_\d{8}_\d{8}$' then to_date(substr(c.relname, length(c.relname) - 16, 8), 'YYYYMMDD') end as low,
    case when c.relname ~ '_\d{8}_\d{8}$' then to_date(right(c.relname, 8), 'YYYYMMDD') end as high
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'requests'::regclass and c.relispartition;

-- Makes the parts up to p_days after p_today, each for a day or for the rest of a month. Tasks are few, so their parts are always for
-- months. Returns the number of new parts. Days that have rows in the default part stay there.
-- In force as 0060_log_parts.sql makes it.
create function request_parts_ahead(p_today date, p_days integer, p_by_month boolean) returns integer language plpgsql as $$
declare
  v_kind text;
  v_low date;
  v_high date;
  v_made integer := 0;
begin
  foreach v_kind in array array['req', 'task'] loop
    select greatest(max(p.high), p_today - 1) into v_low from request_parts p where p.kind = v_kind;
    while v_low < p_today + p_days loop
      v_high := case when p_by_month or v_kind = 'task' then (date_trunc('month', v_low::timestamp) + interval '1 month')::date
        else v_low + 1 end;
      begin
        execute format('create table %I partition of requests for values from (%L) to (%L)',
          format('requests_%s_%s_%s', v_kind, to_char(v_low, 'YYYYMMDD'), to_char(v_high, 'YYYYMMDD')),
          v_kind || '_' || id_time(v_low::timestamp at time zone 'UTC'), v_kind || '_' || id_time(v_high::timestamp at time zone 'UTC'));
        v_made := v_made + 1;
      exception when check_violation then
        null;
      end;
      v_low := v_high;
    end loop;
  end loop;
  return v_made;
end
$$;

-- Attaches a former single table of the log, requests_before, as the first part. Rows that do not belong there move out, and late rows
-- move in. Returns false if that is done, or if there is no such table. Returns true if more than p_limit rows or another step remain;
-- then call it again.
create function request_parts_attach(p_limit integer) returns boolean language plpgsql as $$
declare
  v_end text;
  v_moved bigint;
begin
  select substring(pg_get_constraintdef(k.oid) from '''(req_[0-9a-z]{10})''') into v_end
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where k.conname = 'requests_before_end' and c.oid = to_regclass('requests_before') and not c.relispartition;
  if v_end is null then
    return false;
  end if;
  -- By the key, one workspace after the other.
  with recursive w as (
    (select b.workspace_id from requests_before b order by b.workspace_id limit 1)
    union all
    select (select b.workspace_id from requests_before b where b.workspace_id > w.workspace_id order by b.workspace_id limit 1)
    from w where w.workspace_id is not null
  ), moved as (
    delete from requests_before b using (
      select x.workspace_id, x.id from w cross join lateral (
        select b.workspace_id, b.id from requests_before b where b.workspace_id = w.workspace_id and b.id >= v_end limit p_limit) x
      limit p_limit) y
    where b.workspace_id = y.workspace_id and b.id = y.id
    returning b.*
  ), written as (insert into requests select * from moved returning 1)
  select count(*) into v_moved from written;
  if v_moved >= p_limit then
    return true;
  end if;
  -- Reads and writes go on meanwhile; a second call finds it done.
  if exists (select from pg_constraint where conname = 'requests_before_end' and not convalidated) then
    alter table requests_before validate constraint requests_before_end;
    return true;
  end if;
  with moved as (delete from requests_default d where d.id < v_end returning d.*)
  insert into requests_before select * from moved;
  execute format('alter table requests attach partition requests_before for values from (minvalue) to (%L)', v_end);
  alter table requests_before drop constraint requests_before_end;
  return false;
end
$$;

-- The part for rows from before this moment. First a table by itself, like a log that was one table.
create table requests_before (like requests including defaults);
alter table requests_before add primary key (workspace_id, id);
create index requests_before_by_written on requests_before using brin (written) with (pages_per_range = 32, autosummarize = on);

-- The first parts: that one, the same for tasks, and today's and the next days'.
do $$
declare
  v_now constant timestamptz := now();
  v_time constant text := id_time(v_now);
  v_day constant date := (v_now at time zone 'UTC')::date;
  v_kind text;
  v_end date;
begin
  execute format('alter table requests attach partition requests_before for values from (minvalue) to (%L)', 'req_' || v_time);
  execute format('create table requests_task_before partition of requests for values from (%L) to (%L)', 'task_', 'task_' || v_time);
  foreach v_kind in array array['req', 'task'] loop
    v_end := case v_kind when 'req' then v_day + 1 else (date_trunc('month', v_day::timestamp) + interval '1 month')::date end;
    execute format('create table %I partition of requests for values from (%L) to (%L)',
      format('requests_%s_%s_%s', v_kind, to_char(v_day, 'YYYYMMDD'), to_char(v_end, 'YYYYMMDD')),
      v_kind || '_' || v_time, v_kind || '_' || id_time(v_end::timestamp at time zone 'UTC'));
  end loop;
  perform request_parts_ahead(v_day, 2, false);
end
$$;

-- The request log in parts: what is old goes by dropping a table, and a question about a day reads that day. Parts are ranges of ids,
-- because an id begins with its time: the key stays (workspace_id, id), and a look by id meets one part. There are two kinds of ids,
-- req_ and task_, with parts of their own. docs/architecture.md.
--
-- The table of before becomes the part of everything older than this moment, as it is: nothing is copied, no index is made. Only
-- its rows of tasks move, because their ids lie behind those of all calls. What no part takes (a clock that is wrong by more than
-- a week, an id of another kind) goes to the default part: no row is ever refused.

-- The part of an id that tells its time (src/base/ids.ts): of those made earlier it is smaller.
create function id_time(p_at timestamptz) returns text language sql immutable strict parallel safe as $$
  select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((t.ms >> (5 * (9 - place))) & 31)::integer, 1), '' order by place)
  from (select greatest(0, floor(extract(epoch from p_at) * 1000))::bigint as ms) t, generate_series(0, 9) place
$$;

alter table requests rename to requests_before;
alter index requests_pkey rename to requests_before_pkey;
alter index requests_by_written rename to requests_before_by_written;

create table requests (like requests_before including defaults) partition by range (id);
alter table requests add primary key (workspace_id, id);
create index requests_by_written on requests using brin (written) with (pages_per_range = 32, autosummarize = on);
create table requests_default partition of requests default;

-- The parts. Their names tell their days in UTC: from low up to high, which is not included. Those of before have neither. Every id
-- of a part has a smaller time than `until`; null for the default part.
create view request_parts as
  select c.relname::text as name,
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''[a-z]+_([0-9a-z]{10})''\)') as until,
    case when c.relname = 'requests_default' then null when c.relname like 'requests\_task%' then 'task' else 'req' end as kind,
    case when c.relname ~ '_\d{8}_\d{8}$' then to_date(substr(c.relname, length(c.relname) - 16, 8), 'YYYYMMDD') end as low,
    case when c.relname ~ '_\d{8}_\d{8}$' then to_date(right(c.relname, 8), 'YYYYMMDD') end as high
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'requests'::regclass and c.relispartition;

-- Makes the parts up to p_days after p_today, each a day or the rest of a month long; those of tasks, which are few, always the
-- latter. Returns how many. Days of which the default part has rows already stay in it.
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

-- The table of before takes its place: the rest of what does not belong there moves out, what came late moves in. False where
-- that is done, or where there is more to move than p_limit; then it is to be called again.
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

do $$
declare
  v_now constant timestamptz := now();
  v_time constant text := id_time(v_now);
  v_day constant date := (v_now at time zone 'UTC')::date;
  v_kind text;
  v_end date;
begin
  execute format('alter table requests_before add constraint requests_before_end check (id < %L) not valid', 'req_' || v_time);
  execute format('create table requests_task_before partition of requests for values from (%L) to (%L)', 'task_', 'task_' || v_time);
  foreach v_kind in array array['req', 'task'] loop
    v_end := case v_kind when 'req' then v_day + 1 else (date_trunc('month', v_day::timestamp) + interval '1 month')::date end;
    execute format('create table %I partition of requests for values from (%L) to (%L)',
      format('requests_%s_%s_%s', v_kind, to_char(v_day, 'YYYYMMDD'), to_char(v_end, 'YYYYMMDD')),
      v_kind || '_' || v_time, v_kind || '_' || id_time(v_end::timestamp at time zone 'UTC'));
  end loop;
  perform request_parts_ahead(v_day, 2, false);
  -- Seconds for a gigabyte, in which nobody can read. What is larger takes its place while gateways run (src/retention).
  if pg_relation_size('requests_before') < 500000000 then
    while request_parts_attach(1000000) loop
    end loop;
  end if;
end
$$;

create or replace view request_log as
  select r.workspace_id, r.id, r.created_at,
    coalesce(r.key_id, h.key_id) as key_id,
    coalesce(r.model, h.model) as model,
    coalesce(r.provider, h.provider) as provider,
    coalesce(r.protocol, h.protocol) as protocol,
    coalesce(r.upstream_protocol, h.upstream_protocol) as upstream_protocol,
    coalesce(r.status, h.status) as status,
    coalesce(r.http_status, h.http_status) as http_status,
    case when r.usage_counts is null then r.usage
      else format(h.usage_format, variadic string_to_array(r.usage_counts, ','))::json end as usage,
    coalesce(r.usage_source, h.usage_source) as usage_source,
    r.cost_nano, r.duration_ms, r.first_token_ms, r.dropped, r.notes,
    case when r.attempt_started_ms is null then r.attempts
      else json_build_array(json_build_object(
        'provider', h.attempt -> 'provider',
        'credential', h.attempt -> 'credential',
        'upstream_model', h.attempt -> 'upstream_model',
        'started_ms', r.attempt_started_ms,
        'duration_ms', r.attempt_duration_ms,
        'status', h.attempt -> 'status',
        'outcome', h.attempt -> 'outcome')) end as attempts,
    coalesce(r.explanation, h.explanation) as explanation,
    coalesce(r.stream, h.stream) as stream,
    r.error_message
  from requests r
  left join request_heads h on h.workspace_id = r.workspace_id and h.id = r.head;

-- As before, but of the log only the parts of the last days are asked: a row is written when its call ends.
create or replace function written_since(p_mark bigint, p_topics text[], p_limit integer)
returns table (topic text, workspace_id text, id text, written bigint)
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
  v_low constant text := id_time(now() - interval '4 days');
begin
  if 'requests' = any(p_topics) then
    return query select 'requests', r.workspace_id, r.id, r.written from requests r
      where r.written >= p_mark and (r.id >= 'req_' || v_low and r.id < 'task_' or r.id >= 'task_' || v_low)
      limit p_limit;
  end if;
  if 'tasks' = any(p_topics) then
    return query select 'tasks', t.workspace_id, t.id, t.written from tasks t where t.written >= p_mark limit p_limit;
  end if;
  if 'deliveries' = any(p_topics) then
    return query select 'deliveries', d.workspace_id, d.id, d.written from webhook_deliveries d
      where d.written >= p_mark limit p_limit;
  end if;
end
$$;

-- A head is of one month, so that heads can go with the rows that refer to them. Those of before are of none, and stay.
alter table request_heads add column month date;

-- Files are found by their task when it goes.
create index files_by_task on files (workspace_id, task_id) where task_id is not null;

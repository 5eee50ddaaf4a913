-- Changes since a moment, for the streams of the management API (docs/management.md). Rows of the log, tasks and deliveries record the
-- transaction that wrote them last (`written`). So a query finds new rows without reading older ones, and misses none, not even a row
-- that was written earlier and committed later. The number is valid only in this database: a restore writes rows anew, and null is a
-- row without a number.

-- Rows of the log never change, so their default is enough. Tasks and deliveries change.
create function note_written() returns trigger language plpgsql as $$
begin
  new.written := pg_current_xact_id()::text::bigint;
  return new;
end
$$;
create trigger tasks_written before update on tasks for each row execute function note_written();
create trigger webhook_deliveries_written before update on webhook_deliveries
  for each row execute function note_written();

-- Returns the names of rows that transaction p_mark or a later one wrote, at most p_limit of each requested kind. It reads only the
-- last days' parts of the log, because a row is written when its call ends. It is a function because of its settings, like
-- request_heads_there.
create function written_since(p_mark bigint, p_topics text[], p_limit integer)
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

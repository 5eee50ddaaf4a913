-- What changed since a moment, for the streams of the management API (docs/management.md).
-- Rows of the log, tasks and deliveries say which transaction wrote them last (`written`). What is new is found by it without a look
-- at what was there before, and nothing is missed: a row that was written earlier and committed later is still to be found. The
-- number means something in this database alone: rows that a backup brings are written anew, and null is a row without one.

-- Rows of the log never change, so their default will do. Tasks and deliveries do.
create function note_written() returns trigger language plpgsql as $$
begin
  new.written := pg_current_xact_id()::text::bigint;
  return new;
end
$$;
create trigger tasks_written before update on tasks for each row execute function note_written();
create trigger webhook_deliveries_written before update on webhook_deliveries
  for each row execute function note_written();

-- The names of rows that were written by transaction p_mark or a later one, of each kind that is asked for at most p_limit. Of the log
-- only the parts of the last days are asked: a row is written when its call ends. A function for its settings, as
-- request_heads_there has it.
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

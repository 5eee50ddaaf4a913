-- Which transaction wrote a row last. What is new since a moment is found by it without a look at what was there before, and
-- nothing is missed: a row that was written earlier and committed later is still to be found. The streams of the management API
-- ask so (docs/management.md). Rows of before have none. What a backup brings is written anew: the number means something in this
-- database alone.
alter table requests add column written bigint;
alter table tasks add column written bigint;
alter table webhook_deliveries add column written bigint;

-- Rows of the log never change, so a default will do; it costs them next to nothing.
alter table requests alter column written set default pg_current_xact_id()::text::bigint;
alter table tasks alter column written set default pg_current_xact_id()::text::bigint;
alter table webhook_deliveries alter column written set default pg_current_xact_id()::text::bigint;

create function note_written() returns trigger language plpgsql as $$
begin
  new.written := pg_current_xact_id()::text::bigint;
  return new;
end
$$;
create trigger tasks_written before update on tasks for each row execute function note_written();
create trigger webhook_deliveries_written before update on webhook_deliveries
  for each row execute function note_written();

create index requests_by_written on requests using brin (written)
  with (pages_per_range = 32, autosummarize = on);
create index tasks_by_written on tasks using brin (written)
  with (pages_per_range = 32, autosummarize = on);
create index webhook_deliveries_by_written on webhook_deliveries using brin (written)
  with (pages_per_range = 32, autosummarize = on);

-- The names of rows that were written by transaction p_mark or a later one, of each kind that is asked for at most p_limit. A
-- function for its setting, as request_heads_there has it.
create function written_since(p_mark bigint, p_topics text[], p_limit integer)
returns table (topic text, workspace_id text, id text, written bigint)
language plpgsql stable set enable_seqscan = off as $$
begin
  if 'requests' = any(p_topics) then
    return query select 'requests', r.workspace_id, r.id, r.written from requests r where r.written >= p_mark limit p_limit;
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

-- What many rows of the request log have in common (whose key, which model and provider, how it ended, above all the plan) is
-- stored once, as a head, and rows refer to it: a row costs half the time and a third of the bytes.
--
-- A head's id is a digest of its text, made by the writer, so that any number of writers make the same one. Heads never
-- change. Nothing deletes rows of the log today; whatever will (a workspace that goes, rows that get old) must delete the
-- heads that no row is left of. The writer has each of its statements check that they are there, so it loses nothing then.
create table request_heads (
  workspace_id text not null,
  id uuid not null,
  key_id text,
  model text,
  provider text,
  protocol text,
  upstream_protocol text,
  status text,
  http_status integer,
  usage_source text,
  -- The usage as JSON with %s for each number: what format() makes of it and a row's numbers is the usage.
  usage_format text,
  -- The only attempt without its times.
  attempt json,
  explanation json,
  primary key (workspace_id, id)
);

-- Rows from before stay as they are: to move them would rewrite the largest table at a start. Every column of a row may still
-- be told by the row itself, and then the head does not tell it: rows whose like was not met yet are whole, and notes are
-- always their own.
alter table requests
  add column head uuid,
  add column usage_counts text,
  add column attempt_started_ms integer,
  add column attempt_duration_ms integer;

-- The request log as it is read.
create view request_log as
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
    coalesce(r.explanation, h.explanation) as explanation
  from requests r
  left join request_heads h on h.workspace_id = r.workspace_id and h.id = r.head;

-- True, or an error: every one of these heads is there. The writer's statement asks it, so that no row can refer to a head that
-- is missing, whatever became of the database since the writer wrote it. A function for its setting: the plan is made when the
-- table is small, and must not go on reading all of it when it has grown.
create function request_heads_there(p_workspaces text[], p_ids uuid[]) returns boolean
language plpgsql stable set enable_seqscan = off as $$
begin
  for place in 1 .. cardinality(p_ids) loop
    continue when p_ids[place] is null;
    perform from request_heads h where h.workspace_id = p_workspaces[place] and h.id = p_ids[place];
    if not found then
      raise exception 'a head of the request log is missing' using errcode = 'TG001';
    end if;
  end loop;
  return true;
end
$$;

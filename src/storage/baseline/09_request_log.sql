-- The request log: one row for each call and task, in parts by time. docs/architecture.md. Values that many rows share (key, model,
-- provider, outcome, above all the plan) are stored once, as a head, and rows refer to it. So a row costs half the time and a third of
-- the bytes. A row may have every column itself; then the head does not have it. Rows with a new combination are complete rows, and
-- notes, messages and tags are always in the row. json, not jsonb: it keeps the original text, which costs the database half, and the
-- log is rarely read.

-- The rows. Parts are ranges of ids, because an id begins with its time. So the key also serves lists by time, and a lookup by id reads
-- one part. The next file makes the parts.
create table requests (
  workspace_id text not null,
  id text not null,
  created_at timestamptz not null default now(),
  key_id text,
  model text,
  provider text,
  protocol text,
  upstream_protocol text,
  status text,
  http_status integer,
  usage json,
  usage_source text,
  cost_nano bigint not null default 0,
  duration_ms integer,
  first_token_ms integer,
  dropped json,
  notes json,
  attempts json,
  explanation json,
  head uuid,
  -- The numbers of the usage, in the order of the head's usage_format.
  usage_counts text,
  -- The times of the only attempt. The head has its other fields.
  attempt_started_ms integer,
  attempt_duration_ms integer,
  stream boolean,
  error_message text,
  -- The transaction that wrote the row (written_since).
  written bigint default pg_current_xact_id()::text::bigint,
  -- The caller's tags for the call: docs/tags.md.
  tags json,
  end_user text,
  primary key (workspace_id, id)
) partition by range (id);
create index requests_by_written on requests using brin (written) with (pages_per_range = 32, autosummarize = on);

-- A head's id is a digest of its text, computed by the writer, so that all writers make the same one. Heads never change. A head
-- belongs to one month, so that retention can drop it with its rows; one without a month stays.
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
  -- The usage as JSON with %s for each number. format() with a row's numbers gives the usage.
  usage_format text,
  -- The only attempt, without its times.
  attempt json,
  explanation json,
  stream boolean,
  month date,
  primary key (workspace_id, id)
);

-- Returns true if every one of these heads exists, otherwise fails. The writer's statement calls it, so that no row can refer to a
-- missing head, whatever happened to the database since the writer wrote the head. It is a function because of its setting: the plan is
-- made for a small table, and must not scan the whole table once it has grown.
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
    coalesce(r.explanation, h.explanation) as explanation,
    coalesce(r.stream, h.stream) as stream,
    r.error_message,
    r.tags,
    r.end_user
  from requests r
  left join request_heads h on h.workspace_id = r.workspace_id and h.id = r.head;

-- The time part of an id up to which retention has dropped rows of the log. One row, once rows were dropped.
create table request_log_start (
  only_row boolean primary key default true check (only_row),
  id_time text not null check (length(id_time) = 10)
);

-- The request and answer bodies of calls, word for word, if a workspace has enabled this. The text is sealed with the master key, so
-- that the database alone does not reveal it. A separate table that no list reads: its rows are large, few, and deleted after some
-- days.
create table request_bodies (
  workspace_id text not null,
  id text not null,
  sealed bytea not null,
  primary key (workspace_id, id)
);
-- The content is compressed and random: compressing it again only costs time.
alter table request_bodies alter column sealed set storage external;

-- What callers say of their calls: tags and their end user. Both are the row's own: values differ from call to call, and rows
-- without them grow by nothing.
alter table requests add column tags json, add column end_user text;

-- Where the log is kept in parts, the part of before may not have its place among them yet.
do $$
begin
  if exists (select from pg_class c where c.oid = to_regclass('requests_before') and not c.relispartition) then
    alter table requests_before add column tags json, add column end_user text;
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
    r.error_message,
    r.tags,
    r.end_user
  from requests r
  left join request_heads h on h.workspace_id = r.workspace_id and h.id = r.head;

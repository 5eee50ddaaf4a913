-- What a failed call was answered, and whether a stream was asked for, for the page of one call. The message is the row's own: most
-- differ, and rows that did not fail grow by nothing. Whether it was a stream is the same in row after row, and stands in the head.
alter table requests add column stream boolean, add column error_message text;
alter table request_heads add column stream boolean;

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

-- What made the cost of a call, as JSON (src/media/kept-price.ts), so that a price that changes later leaves its lines as they were.
-- Many calls have one price, so the head has it. Null: a row of before, or of a version that does not keep prices yet.
alter table request_heads add column price json;
alter table requests add column price json;

-- A log that is still to become the first part must have the same columns by then (request_parts_attach).
do $$
begin
  if exists (select from pg_class where oid = to_regclass('requests_before') and not relispartition) then
    alter table requests_before add column price json;
  end if;
end
$$;

-- As in storage/baseline/09_request_log.sql, with the price.
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
    r.end_user,
    coalesce(r.price, h.price) as price
  from requests r
  left join request_heads h on h.workspace_id = r.workspace_id and h.id = r.head;

-- Every count that is charged, in the sums of usage. What was summed before has none of them.
alter table usage_hours
  add column cache_write_1h_tokens bigint not null default 0,
  add column audio_input_tokens bigint not null default 0,
  add column audio_cache_read_tokens bigint not null default 0,
  add column audio_output_tokens bigint not null default 0,
  add column image_input_tokens bigint not null default 0,
  add column image_output_tokens bigint not null default 0,
  add column input_images bigint not null default 0,
  add column web_searches bigint not null default 0,
  add column web_search_answers bigint not null default 0,
  add column image_tool_text_tokens bigint not null default 0,
  add column image_tool_image_tokens bigint not null default 0,
  add column image_tool_output_tokens bigint not null default 0;
alter table usage_days
  add column cache_write_1h_tokens bigint not null default 0,
  add column audio_input_tokens bigint not null default 0,
  add column audio_cache_read_tokens bigint not null default 0,
  add column audio_output_tokens bigint not null default 0,
  add column image_input_tokens bigint not null default 0,
  add column image_output_tokens bigint not null default 0,
  add column input_images bigint not null default 0,
  add column web_searches bigint not null default 0,
  add column web_search_answers bigint not null default 0,
  add column image_tool_text_tokens bigint not null default 0,
  add column image_tool_image_tokens bigint not null default 0,
  add column image_tool_output_tokens bigint not null default 0;
alter table usage_tags
  add column cache_write_1h_tokens bigint not null default 0,
  add column audio_input_tokens bigint not null default 0,
  add column audio_cache_read_tokens bigint not null default 0,
  add column audio_output_tokens bigint not null default 0,
  add column image_input_tokens bigint not null default 0,
  add column image_output_tokens bigint not null default 0,
  add column input_images bigint not null default 0,
  add column web_searches bigint not null default 0,
  add column web_search_answers bigint not null default 0,
  add column image_tool_text_tokens bigint not null default 0,
  add column image_tool_image_tokens bigint not null default 0,
  add column image_tool_output_tokens bigint not null default 0;

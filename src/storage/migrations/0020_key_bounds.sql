-- What administrators set of a key, as its owner may not go beyond it: {model_allowlist, rate_limits, expires_at}, each
-- absent where no administrator set it. Who set what was not known before: what is in force binds.
alter table api_keys add column bounds jsonb not null default '{}';
update api_keys set bounds = jsonb_strip_nulls(jsonb_build_object(
  'model_allowlist', case when jsonb_array_length(model_allowlist) > 0 then model_allowlist end,
  'rate_limits', rate_limits,
  'expires_at', expires_at
));

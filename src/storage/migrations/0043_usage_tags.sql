-- Usage by the tags that the operator's list names (tags.usage, docs/tags.md): sums by day, added to in the transaction that adds to
-- `usage_days`. Calls without a tag have no row here: they are what is left of the day's total. So an answer adds up to the ledger
-- whatever was listed when. A correction of a call from before its name was listed may leave a count below zero, so that there are no
-- checks, which would stop the other sums.
create table usage_tags (
  workspace_id text not null,
  -- Of the tag; end_user is the end user.
  name text not null,
  -- False: of all members, and member_id is ''.
  of_member boolean not null,
  member_id text not null check (of_member or member_id = ''),
  day date not null,
  value text not null check (value <> ''),
  requests bigint not null,
  errors bigint not null,
  client_closed bigint not null,
  cost_nano bigint not null,
  input_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  output_images bigint not null,
  output_video_seconds numeric not null,
  output_video_tokens bigint not null,
  duration numeric not null,
  first_token numeric not null,
  primary key (workspace_id, name, of_member, member_id, day, value)
) with (fillfactor = 80);

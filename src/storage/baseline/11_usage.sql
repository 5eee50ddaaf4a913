-- Usage is read from sums by hour and by day, not from the log. A worker adds the new rows of the ledger and the log to them. It moves
-- the mark of its progress in the same transaction. Readers add newer rows themselves, in one snapshot, so that an answer always equals
-- the ledger to the last nano-dollar. docs/architecture.md. Empty texts are '', so that they can be in keys.

-- The mark of each workspace: its entries up to here are in the sums. A workspace's entries are written in order, under the lock of its
-- account, so that none appears below the mark.
create table usage_folds (
  workspace_id text primary key,
  entry bigint not null check (entry >= 0)
);

-- Free rows of the log that are not in the sums yet, written with the row. The worker finds other rows by their charge.
create table usage_pending (
  workspace_id text not null,
  id text not null,
  primary key (workspace_id, id)
);

-- Charges in the sums without a log row. When the row comes, they move to its model. After a day the worker expects no row any more.
create table usage_unattributed (
  workspace_id text not null,
  entry bigint not null,
  -- The id of the missing log row.
  id text not null,
  at timestamptz not null,
  key_id text not null,
  member_id text not null,
  cost_nano bigint not null check (cost_nano >= 0),
  primary key (workspace_id, entry)
);

-- The sums by hour, by every dimension of queries. A row counts calls, failed calls, and calls whose caller left.
create table usage_hours (
  workspace_id text not null,
  hour timestamptz not null check (extract(epoch from hour)::bigint % 3600 = 0),
  key_id text not null,
  member_id text not null,
  model text not null,
  provider text not null,
  protocol text not null,
  status text not null,
  error_code text not null,
  requests bigint not null check (requests >= 0),
  errors bigint not null check (errors between 0 and requests),
  client_closed bigint not null check (client_closed between 0 and requests),
  cost_nano bigint not null check (cost_nano >= 0),
  input_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  output_images bigint not null,
  output_video_seconds numeric not null,
  output_video_tokens bigint not null,
  -- Histograms: see usage_histogram below.
  duration numeric not null check (duration >= 0),
  first_token numeric not null check (first_token >= 0),
  primary key (workspace_id, key_id, hour, member_id, model, provider, protocol, status, error_code)
) with (fillfactor = 80);
create index usage_hours_by_time on usage_hours using brin (hour) with (pages_per_range = 32, autosummarize = on);
create index usage_hours_by_member on usage_hours (member_id, hour);
create index usage_hours_by_model on usage_hours (model, hour);
create index usage_hours_by_provider on usage_hours (provider, hour);

-- The same sums by one dimension at a time, for all members together and for each member, who may see only their own.
create table usage_days (
  workspace_id text not null,
  day date not null,
  dimension text not null check (dimension in ('total', 'model', 'key', 'provider', 'protocol', 'status', 'error_code')),
  -- False: the sum of all members, and member_id is ''.
  of_member boolean not null,
  member_id text not null check (of_member or member_id = ''),
  value text not null check (dimension <> 'total' or value = ''),
  requests bigint not null check (requests >= 0),
  errors bigint not null check (errors between 0 and requests),
  client_closed bigint not null check (client_closed between 0 and requests),
  cost_nano bigint not null check (cost_nano >= 0),
  input_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  output_images bigint not null,
  output_video_seconds numeric not null,
  output_video_tokens bigint not null,
  duration numeric not null check (duration >= 0),
  first_token numeric not null check (first_token >= 0),
  primary key (workspace_id, dimension, of_member, member_id, day, value)
) with (fillfactor = 80);

-- A histogram of one time, as a number: 64 counters of 12 decimal digits each. Sums and differences of histograms are those of the
-- numbers, exactly, and one call takes two digits of room. Counter n counts times from 1.25^n ms up to 1.25^(n + 1) ms. The first also
-- counts shorter times, the last longer ones (21 minutes). 0 without a time.
-- In force as 0049_usage_histogram_list.sql makes it.
create function usage_histogram(p_ms integer) returns numeric language sql immutable parallel safe as $$
  select case when p_ms is null then 0::numeric
    else ('1e' || 12 * width_bucket(p_ms::float8, array[
      1.25, 1.5625, 1.953125, 2.44140625, 3.0517578125, 3.81469726563, 4.76837158203, 5.96046447754, 7.45058059692, 9.31322574615, 11.6415321827, 14.5519152284,
      18.1898940355, 22.7373675443, 28.4217094304, 35.527136788, 44.408920985, 55.5111512313, 69.3889390391, 86.7361737988, 108.420217249, 135.525271561, 169.406589451, 211.758236814,
      264.697796017, 330.872245021, 413.590306277, 516.987882846, 646.234853557, 807.793566946, 1009.74195868, 1262.17744835, 1577.72181044, 1972.15226305, 2465.19032882, 3081.48791102,
      3851.85988877, 4814.82486097, 6018.53107621, 7523.16384526, 9403.95480658, 11754.9435082, 14693.6793853, 18367.0992316, 22958.8740395, 28698.5925494, 35873.2406867, 44841.5508584,
      56051.938573, 70064.9232162, 87581.1540203, 109476.442525, 136845.553157, 171056.941446, 213821.176807, 267276.471009, 334095.588762, 417619.485952, 522024.35744, 652530.4468,
      815663.0585, 1019578.82312, 1274473.52891
    ]::float8[]))::numeric end
$$;

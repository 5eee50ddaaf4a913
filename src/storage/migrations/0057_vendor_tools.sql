-- What vendors bill for tools that they run beside the model, in the sums of usage. What was summed before has none of them.
alter table usage_hours
  add column file_searches bigint not null default 0,
  add column map_searches bigint not null default 0,
  add column map_answers bigint not null default 0,
  add column attachment_searches bigint not null default 0,
  add column code_runs bigint not null default 0,
  add column x_posts bigint not null default 0,
  add column x_profiles bigint not null default 0;
alter table usage_days
  add column file_searches bigint not null default 0,
  add column map_searches bigint not null default 0,
  add column map_answers bigint not null default 0,
  add column attachment_searches bigint not null default 0,
  add column code_runs bigint not null default 0,
  add column x_posts bigint not null default 0,
  add column x_profiles bigint not null default 0;
alter table usage_tags
  add column file_searches bigint not null default 0,
  add column map_searches bigint not null default 0,
  add column map_answers bigint not null default 0,
  add column attachment_searches bigint not null default 0,
  add column code_runs bigint not null default 0,
  add column x_posts bigint not null default 0,
  add column x_profiles bigint not null default 0;

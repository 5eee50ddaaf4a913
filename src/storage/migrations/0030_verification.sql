-- The last run of `verify` that was asked for over the management API, or the one under way. docs/management.md.
-- One that is said to run, and whose lock nobody holds, has ended with its gateway.
create table verification (
  only_row boolean primary key default true check (only_row),
  state text not null check (state in ('running', 'done', 'failed')),
  started_at timestamptz not null,
  finished_at timestamptz check (finished_at >= started_at),
  entries bigint not null check (entries >= 0),
  -- Some of them, as they are shown; and how many there are.
  differences json not null,
  differences_count integer not null check (differences_count >= 0),
  check ((finished_at is null) = (state = 'running'))
);

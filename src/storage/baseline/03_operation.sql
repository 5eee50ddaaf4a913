-- For operators: settings, the audit log, the running processes, the result of `verify`, exported days.

-- Settings of the whole installation, by name.
create table settings (
  name text primary key,
  value jsonb not null
);

-- Written in the transaction of the change that it records, and never changed. workspace_id is '' if no workspace is concerned.
create table audit_entries (
  workspace_id text not null,
  id text not null,
  created_at timestamptz not null,
  organization_id text,
  actor_kind text not null,
  actor_id text,
  actor_name text not null,
  action text not null,
  object_type text not null,
  object_id text not null,
  before jsonb,
  after jsonb,
  request_id text,
  primary key (workspace_id, id)
);
create index audit_entries_by_id on audit_entries (id);

-- The processes that serve this database. Each reports its state every few seconds. docs/management.md.
create table gateways (
  id text primary key check (octet_length(id) between 1 and 100),
  version text not null check (octet_length(version) <= 100),
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  in_flight integer not null check (in_flight >= 0),
  event_loop_p99_ms double precision not null check (event_loop_p99_ms >= 0),
  memory_bytes bigint not null check (memory_bytes >= 0)
);

-- The last or current run of `verify` that was started over the management API. docs/management.md. If the row says that it runs but
-- its lock is free, the run has ended with its gateway.
create table verification (
  only_row boolean primary key default true check (only_row),
  state text not null check (state in ('running', 'done', 'failed')),
  started_at timestamptz not null,
  finished_at timestamptz check (finished_at >= started_at),
  entries bigint not null check (entries >= 0),
  -- Some of the differences as they are shown, and their total number.
  differences json not null,
  differences_count integer not null check (differences_count >= 0),
  check ((finished_at is null) = (state = 'running'))
);

-- The days that the export setting has exported (docs/operate.md): from the first one on, without a gap. While the setting exists,
-- retention does not drop other days.
create table exported_days (
  what text not null check (what in ('requests', 'ledger')),
  day date not null,
  file text not null,
  rows bigint not null check (rows >= 0),
  finished_at timestamptz not null default now(),
  primary key (what, day)
);

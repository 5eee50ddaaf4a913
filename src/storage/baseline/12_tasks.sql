-- Image and video tasks, the idempotency keys that make retries safe, and the files that tasks produce. docs/tasks.md.

-- Tasks: one row each, kept after the end. The row is also its own job: `due_at` is the time of the next step, and a lease with a token
-- shows which gateway takes it. So a job and its task can never disagree.
create table tasks (
  workspace_id text not null,
  id text not null,
  key_id text not null,
  member_id text,
  kind text not null check (kind in ('image', 'video')),
  family text not null,
  model text not null,
  form text not null,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'succeeded', 'failed', 'expired', 'canceled')),
  request jsonb not null,
  notes jsonb not null default '[]',
  -- The offers that may serve the task, in order, with the reasons; and the attempts.
  plan jsonb not null,
  attempts jsonb not null default '[]',
  reserved_nano bigint not null,
  cost_nano bigint not null default 0,
  usage jsonb,
  artifacts jsonb not null default '[]',
  error jsonb,
  webhook_url text,
  -- The current attempt: its provider, and if the request has begun. `upstream_id` is the vendor's id of the job.
  attempt integer not null default 0,
  provider text,
  credential text,
  upstream_model text,
  upstream_id text,
  asking boolean not null default false,
  -- The number of successive polls in which the vendor did not know the job, and the time of the first.
  misses integer not null default 0,
  missing_since timestamptz,
  -- The time of the next step. Null once the task has ended, which the check at the end of this table enforces.
  due_at timestamptz,
  lease_token text,
  lease_until timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  -- The transaction that wrote the row last (written_since).
  written bigint default pg_current_xact_id()::text::bigint,
  primary key (workspace_id, id),
  check ((due_at is null) = (status in ('succeeded', 'failed', 'expired', 'canceled')))
);
create index tasks_due on tasks (due_at) where due_at is not null;
create index tasks_by_status on tasks (workspace_id, status, id desc);
create index tasks_by_written on tasks using brin (written)
  with (pages_per_range = 32, autosummarize = on);

-- One row per idempotency key of a workspace, inserted in the transaction of the task or the hold. Kept for 24 hours. It refers to a
-- task (task_id), or to an image call (call_id) whose answer is kept as a file. Without a task or an answer the call is in flight while
-- its hold is open: the hold ends in the transaction that writes the answer.
create table idempotency_keys (
  workspace_id text not null,
  key text not null,
  fingerprint text not null,
  task_id text,
  created_at timestamptz not null,
  call_id text,
  answer text,
  primary key (workspace_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- The files in the file store. The name is the only secret of a result's address: 128 random bits. Purposes: inputs and results of
-- tasks; the kept answer of an image call, which has no task and is not served under /files; small copies of results, made on the first
-- view, which are deleted with their picture.
create table files (
  workspace_id text not null,
  name text not null,
  task_id text,
  purpose text not null check (purpose in ('input', 'result', 'answer', 'thumbnail')),
  media_type text not null,
  bytes bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (workspace_id, name)
);
create unique index files_by_name on files (name);
create index files_by_expiry on files (expires_at);
-- Finds the files of a task when it is deleted.
create index files_by_task on files (workspace_id, task_id) where task_id is not null;

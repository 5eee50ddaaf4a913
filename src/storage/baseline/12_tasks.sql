-- Image and video tasks, what makes them safe to send again, and the files that they produce. docs/tasks.md.

-- Tasks: one row each, from submission to its end and ever after. The row is also its own job: `due_at` says when the next
-- step is to be taken, and a lease with a token says who takes it, so that a job and its task can never disagree.
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
  -- The offers that may serve it, in order, and why; and what was tried.
  plan jsonb not null,
  attempts jsonb not null default '[]',
  reserved_nano bigint not null,
  cost_nano bigint not null default 0,
  usage jsonb,
  artifacts jsonb not null default '[]',
  error jsonb,
  webhook_url text,
  -- The attempt under way: who was asked, and whether asking had begun. `upstream_id` is what the vendor calls it.
  attempt integer not null default 0,
  provider text,
  credential text,
  upstream_model text,
  upstream_id text,
  asking boolean not null default false,
  -- Polls in a row in which the vendor did not know the job, and since when.
  misses integer not null default 0,
  missing_since timestamptz,
  -- When the next step is due; null once the task has ended, which the check at the end holds.
  due_at timestamptz,
  lease_token text,
  lease_until timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  -- The transaction that wrote it last (written_since).
  written bigint default pg_current_xact_id()::text::bigint,
  primary key (workspace_id, id),
  check ((due_at is null) = (status in ('succeeded', 'failed', 'expired', 'canceled')))
);
create index tasks_due on tasks (due_at) where due_at is not null;
create index tasks_by_status on tasks (workspace_id, status, id desc);
create index tasks_by_written on tasks using brin (written)
  with (pages_per_range = 32, autosummarize = on);

-- One row per idempotency key of a workspace, made in the transaction that makes the task or the hold; kept for 24 hours.
-- It stands for a task (task_id), or for an image call (call_id) whose answer is kept as a file. While neither task nor answer is
-- there the call is under way, as long as its hold is open: it ends in the transaction that writes the answer.
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

-- What is kept in the file store. The name is the whole secret of a result's address: 128 random bits.
-- Purposes: inputs and results of tasks; the kept answer of an image call, which is not served under /files and is bound to no task;
-- small copies of results, made when somebody looks, which end with their picture.
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
-- Files are found by their task when it goes.
create index files_by_task on files (workspace_id, task_id) where task_id is not null;

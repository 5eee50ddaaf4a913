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
  -- When the next step is due; null once the task has ended.
  due_at timestamptz,
  lease_token text,
  lease_until timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  primary key (workspace_id, id),
  check ((due_at is null) = (status in ('succeeded', 'failed', 'expired', 'canceled')))
);
create index tasks_due on tasks (due_at) where due_at is not null;
create index tasks_by_status on tasks (workspace_id, status, id desc);

-- One row per idempotency key of a workspace, made in the transaction that makes the task; kept for 24 hours.
create table idempotency_keys (
  workspace_id text not null,
  key text not null,
  fingerprint text not null,
  -- The task it made, or the answer of a call that is no task.
  task_id text,
  created_at timestamptz not null,
  primary key (workspace_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- The outbox of callbacks: written in the transaction that ends a task, delivered at least once. Its id is the event's.
create table webhook_deliveries (
  workspace_id text not null,
  id text not null,
  task_id text,
  type text not null,
  url text not null,
  -- The body of a test event; that of a task is rendered from the task, which does not change any more.
  body jsonb,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz,
  lease_token text,
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  check ((due_at is null) = (status <> 'pending'))
);
create index webhook_deliveries_due on webhook_deliveries (due_at) where due_at is not null;
create index webhook_deliveries_by_task on webhook_deliveries (workspace_id, task_id);

create table webhook_attempts (
  workspace_id text not null,
  delivery_id text not null,
  attempt integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  -- The receiver's status, or null where it could not be reached; then `error` says why.
  http_status integer,
  error text,
  primary key (workspace_id, delivery_id, attempt)
);

-- What is kept in the file store. The name is the whole secret of a result's address: 128 random bits.
create table files (
  workspace_id text not null,
  name text not null,
  task_id text,
  purpose text not null check (purpose in ('input', 'result')),
  media_type text not null,
  bytes bigint not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (workspace_id, name)
);
create unique index files_by_name on files (name);
create index files_by_expiry on files (expires_at);

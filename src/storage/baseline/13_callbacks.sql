-- Requests to customers' addresses: callbacks at the end of tasks, and alerts of spend caps. docs/callbacks.md.

-- The outbox of callbacks: written in the transaction that ends a task, delivered at least once. Its id is the event's.
create table webhook_deliveries (
  workspace_id text not null,
  id text not null,
  task_id text,
  type text not null,
  url text not null,
  -- The event as it was first sent, so that every try sends the same bytes. Text, because jsonb would lose the order of keys. Null
  -- before the first try: a task's event is rendered from the task, which does not change any more.
  body text,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz,
  lease_token text,
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Limits the deliveries in flight to one receiver, so that a hanging receiver does not stop the others.
  host text generated always as (lower(substring(url from '^[^:]*://([^/?#]*)'))) stored,
  -- The number of attempts before the last redelivery, which restarts the schedule.
  attempts_before integer not null default 0,
  -- The transaction that wrote the row last (written_since).
  written bigint default pg_current_xact_id()::text::bigint,
  primary key (workspace_id, id),
  -- Exactly the pending deliveries have a due time.
  check ((due_at is null) = (status <> 'pending'))
);
create index webhook_deliveries_due on webhook_deliveries (due_at) where due_at is not null;
-- A task ends once, so it has one event.
create unique index webhook_deliveries_by_task on webhook_deliveries (workspace_id, task_id) where task_id is not null;
create index webhook_deliveries_by_id on webhook_deliveries (id);
create index webhook_deliveries_by_written on webhook_deliveries using brin (written)
  with (pages_per_range = 32, autosummarize = on);

-- Each attempt to deliver a callback.
create table webhook_attempts (
  workspace_id text not null,
  delivery_id text not null,
  attempt integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  -- The receiver's status, or null if it could not be reached; then `error` says why.
  http_status integer,
  error text,
  primary key (workspace_id, delivery_id, attempt)
);

-- The spend alerts that were sent: a row for each cap, period and threshold. The gateway that inserts the row sends the alert. A
-- changed cap counts as another cap.
create table spend_alerts (
  workspace_id text not null,
  scope text not null check (scope in ('workspace', 'member', 'key')),
  scope_id text not null,
  cap_window text not null check (cap_window in ('total', 'monthly', 'weekly', 'daily')),
  -- UTC; 0001-01-01 for the total, which has no periods.
  period_start date not null,
  cap_nano bigint not null,
  -- Percent of the cap.
  threshold integer not null,
  spent_nano bigint not null,
  created_at timestamptz not null,
  primary key (workspace_id, scope, scope_id, cap_window, period_start, cap_nano, threshold)
);

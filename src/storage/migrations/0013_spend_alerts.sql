-- Who was told that a spend cap is nearly or fully used. decisions.md "cap reached"; docs/callbacks.md "Spend caps".

-- Where a workspace's alerts are posted, signed like every callback; null: nowhere, they are log events only.
alter table workspaces add column alert_webhook_url text;

-- One row for each cap, period and threshold: whoever adds it tells of it. A cap that was changed is another cap.
create table spend_alerts (
  workspace_id text not null,
  scope text not null check (scope in ('workspace', 'member', 'key')),
  scope_id text not null,
  cap_window text not null check (cap_window in ('total', 'monthly', 'weekly', 'daily')),
  -- UTC; of the total, which has no periods, 0001-01-01.
  period_start date not null,
  cap_nano bigint not null,
  -- Percent of the cap.
  threshold integer not null,
  spent_nano bigint not null,
  created_at timestamptz not null,
  primary key (workspace_id, scope, scope_id, cap_window, period_start, cap_nano, threshold)
);

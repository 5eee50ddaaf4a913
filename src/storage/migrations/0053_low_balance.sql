-- Below which amount of its balance a workspace is warned; null: never.
alter table workspaces add column low_balance_nano bigint check (low_balance_nano >= 0);

-- Of which workspaces that was told: a row until the balance is above the amount again. Whoever adds it sends the warning.
create table low_balances (
  workspace_id text primary key,
  amount_nano bigint not null,
  left_nano bigint not null,
  created_at timestamptz not null
);

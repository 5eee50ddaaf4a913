-- Members who were just removed, for a way back within ten minutes. docs/management.md.
create table removed_members (
  workspace_id text not null references workspaces (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  -- The row of `members` as it was.
  member jsonb not null,
  -- The keys that were disabled with it.
  disabled_keys text[] not null,
  removed_at timestamptz not null,
  primary key (workspace_id, user_id)
);

-- Open links that let their holder choose a new password for a user: one a user, for a day. docs/management.md.
create table password_resets (
  -- Where the one who made it administers the user; both are looked at again when it is used.
  workspace_id text not null references workspaces (id) on delete cascade,
  user_id text not null unique references users (id) on delete cascade,
  -- null: the admin token.
  made_by text references users (id) on delete cascade,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (workspace_id, user_id)
);

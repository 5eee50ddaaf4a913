-- The management API: personal tokens, and the log of who changed what. contract.md "Management API".

-- A bearer for /admin/v1 with its owner's role. Only the HMAC of its text is kept: it is shown once.
create table admin_tokens (
  id text primary key,
  user_id text not null,
  name text not null,
  lookup bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create unique index admin_tokens_by_lookup on admin_tokens (lookup);
create index admin_tokens_by_user on admin_tokens (user_id);

-- Written in the transaction of the change it tells of, and never changed. workspace_id is '' where none is concerned.
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

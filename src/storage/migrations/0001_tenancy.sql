-- Organizations, workspaces, users, members, keys, the request log, settings. Spec: "Authentication"; contract.md.
-- Every table that belongs to a workspace has workspace_id first in its key, so that it can be distributed by it.
-- Money is nano-USD in bigint. A null cap is no limit; a cap of 0 means that nothing may be spent.

create table organizations (
  id text primary key,
  name text not null,
  model_allowlist jsonb not null default '[]',
  routing jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table workspaces (
  id text primary key,
  organization_id text,
  name text not null,
  status text not null default 'active' check (status in ('active', 'disabled')),
  cap_total_nano bigint check (cap_total_nano >= 0),
  cap_monthly_nano bigint check (cap_monthly_nano >= 0),
  cap_weekly_nano bigint check (cap_weekly_nano >= 0),
  cap_daily_nano bigint check (cap_daily_nano >= 0),
  cap_hard boolean not null default false,
  model_allowlist jsonb not null default '[]',
  routing jsonb,
  signing_version integer not null default 1,
  signing_enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index workspaces_by_organization on workspaces (organization_id);

create table users (
  id text primary key,
  email text not null unique,
  name text not null,
  password_hash text,
  role text not null default 'user' check (role in ('admin', 'user')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table members (
  workspace_id text not null,
  user_id text not null,
  role text not null default 'member' check (role in ('admin', 'member')),
  cap_total_nano bigint check (cap_total_nano >= 0),
  cap_monthly_nano bigint check (cap_monthly_nano >= 0),
  cap_weekly_nano bigint check (cap_weekly_nano >= 0),
  cap_daily_nano bigint check (cap_daily_nano >= 0),
  cap_hard boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index members_by_user on members (user_id);

create table api_keys (
  workspace_id text not null,
  id text not null,
  name text not null,
  status text not null default 'active' check (status in ('active', 'disabled', 'revoked')),
  -- HMAC-SHA-256 of the key: what a request is looked up by.
  lookup bytea not null,
  -- AES-256-GCM of the key, to show it again; null for legacy keys, which keep only the prefix.
  ciphertext bytea,
  key_prefix text not null,
  key_last4 text not null,
  created_by text,
  cap_total_nano bigint check (cap_total_nano >= 0),
  cap_monthly_nano bigint check (cap_monthly_nano >= 0),
  cap_weekly_nano bigint check (cap_weekly_nano >= 0),
  cap_daily_nano bigint check (cap_daily_nano >= 0),
  cap_hard boolean not null default false,
  model_allowlist jsonb not null default '[]',
  routing jsonb,
  allow_request_override boolean not null default false,
  rate_limits jsonb,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  primary key (workspace_id, id)
);
create unique index api_keys_by_lookup on api_keys (lookup);
create index api_keys_by_id on api_keys (id);

create table requests (
  workspace_id text not null,
  id text not null,
  created_at timestamptz not null default now(),
  key_id text,
  model text,
  provider text,
  protocol text,
  upstream_protocol text,
  status text,
  http_status integer,
  usage jsonb,
  usage_source text,
  cost_nano bigint not null default 0,
  duration_ms integer,
  first_token_ms integer,
  dropped jsonb,
  notes jsonb,
  attempts jsonb,
  explanation jsonb,
  primary key (workspace_id, id)
);
create index requests_by_time on requests (workspace_id, created_at desc);

create table settings (
  name text primary key,
  value jsonb not null
);

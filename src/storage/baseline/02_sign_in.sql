-- Sign-in: passwords and identity providers, sessions of the console, personal tokens. docs/management.md. better-auth defines the
-- columns of the tables auth_*; the users themselves are in `users`.

-- A way to sign in to an account: a password, or a user of an identity provider.
create table auth_accounts (
  id text primary key,
  user_id text not null,
  -- 'credential' for a password, else the identity provider.
  provider_id text not null,
  -- The user's id at the identity provider; for a password, the user's own id.
  account_id text not null,
  -- scrypt, as salt:hash.
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- A password that another user set. It opens one session, which may only change it. Null: the user's own password.
  one_time text check (one_time in ('unused', 'used')),
  unique (provider_id, account_id)
);
create index auth_accounts_by_user on auth_accounts (user_id);

create table auth_sessions (
  id text primary key,
  user_id text not null,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  password_change_required boolean not null default false
);
create index auth_sessions_by_user on auth_sessions (user_id);

-- better-auth's state of a sign-in in progress at an identity provider.
create table auth_verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index auth_verifications_by_identifier on auth_verifications (identifier);

-- Sign-ins that failed or are in progress, by address and by account, within a window of time.
create table auth_attempts (
  name text primary key,
  count integer not null,
  started_at timestamptz not null
);

-- Open links that let their holder choose a new password for a user: one link a user, valid for a day.
create table password_resets (
  -- The workspace in which the link's creator administers the user. Both are checked again when the link is used.
  workspace_id text not null references workspaces (id) on delete cascade,
  user_id text not null unique references users (id) on delete cascade,
  -- Null: the admin token.
  made_by text references users (id) on delete cascade,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (workspace_id, user_id)
);

-- A bearer token for /admin/v1 with its owner's role. It is shown once, and only its HMAC is kept.
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

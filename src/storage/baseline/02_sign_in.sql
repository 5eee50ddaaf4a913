-- How people get in: passwords and identity providers, sessions of the console, personal tokens. docs/management.md.
-- The shapes of the tables auth_* are better-auth's; who a user is stays in `users`.

-- A way into an account: a password, or a user of an identity provider.
create table auth_accounts (
  id text primary key,
  user_id text not null,
  -- 'credential' for a password, else the identity provider.
  provider_id text not null,
  -- The user's id there; their own id for a password.
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
  -- A password that somebody else set: it opens one session, which may only change it. null: the user's own.
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

-- What better-auth remembers of a sign-in that is under way at an identity provider.
create table auth_verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index auth_verifications_by_identifier on auth_verifications (identifier);

-- Sign-ins that failed, or are under way: of an address, of an account, within a window of time.
create table auth_attempts (
  name text primary key,
  count integer not null,
  started_at timestamptz not null
);

-- Open links that let their holder choose a new password for a user: one a user, for a day.
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

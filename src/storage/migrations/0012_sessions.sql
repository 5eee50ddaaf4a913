-- Console sessions. contract.md "Sessions and tokens". The shapes are better-auth's (its own migrator is not used); what
-- they hold is ours: users stay in users, and a password becomes one of the ways into an account.

alter table users add column email_verified boolean not null default false;
alter table users add column image text;

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
  unique (provider_id, account_id)
);
create index auth_accounts_by_user on auth_accounts (user_id);

insert into auth_accounts (id, user_id, provider_id, account_id, password)
  select 'account_' || id, id, 'credential', id, password_hash from users where password_hash is not null;
alter table users drop column password_hash;

-- The first administrator's address had no domain, and such an address cannot be signed in with.
update users set email = 'admin@tollgate.localhost' where email = 'admin@localhost'
  and not exists (select 1 from users other where other.email = 'admin@tollgate.localhost');

create table auth_sessions (
  id text primary key,
  user_id text not null,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index auth_sessions_by_user on auth_sessions (user_id);

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

-- Who there is: organizations, workspaces, users, members, and API keys. docs/management.md.
-- Every table that belongs to a workspace has workspace_id first in its key, so that it can be distributed by it (docs/scale.md).
-- Money is nano-USD in bigint. A null cap is no limit; a cap of 0 means that nothing may be spent. A soft cap lets calls in until its
-- amount is spent; a hard one (cap_hard) also counts what is held, so that it is never exceeded.

-- The outermost layer: which models its workspaces may use, and how their calls are routed. Empty list: all models.
create table organizations (
  id text primary key,
  name text not null,
  model_allowlist jsonb not null default '[]',
  routing jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- The tenant: keys, members, tasks and money belong to it.
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
  -- Callbacks are signed by a secret that is derived from the master key and this number.
  signing_version integer not null default 1,
  signing_enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- When the signing secret was last replaced: the one before it signs too for a day, so that receivers can change over.
  signing_rotated_at timestamptz,
  -- Where alerts of spend caps are posted, signed like every callback; null: nowhere, they are log events only.
  alert_webhook_url text,
  -- How far it may spend beyond its credits, null: without limit. For workspaces that are not prepaid.
  credit_line_nano bigint default 0 check (credit_line_nano >= 0),
  rate_limits jsonb,
  -- At which percentages of a cap an alert is sent: of its own caps, its members' and its keys'. docs/callbacks.md.
  alert_thresholds integer[] not null default '{50,80,100}'
    check (cardinality(alert_thresholds) <= 5 and 1 <= all (alert_thresholds) and 100 >= all (alert_thresholds)),
  -- Whether bodies of calls are kept (request_bodies), and for how long.
  keep_bodies text not null default 'off' check (keep_bodies in ('off', 'errors', 'all')),
  body_retention_days integer not null default 7 check (body_retention_days between 1 and 90)
);
create index workspaces_by_organization on workspaces (organization_id);

-- People. An e-mail address is what somebody was called when they were added, and proves nothing: each invitation has a user of
-- its own, so that a password somebody else set opens nothing but what that invitation offers. Only an address that the
-- identity provider has verified belongs to one user.
create table users (
  id text primary key,
  email text not null,
  name text not null,
  role text not null default 'user' check (role in ('admin', 'user')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  email_verified boolean not null default false,
  image text
);
create index users_by_email on users (email);
create unique index users_by_verified_email on users (email) where email_verified;

-- A user in a workspace. Who is invited has no right yet, and the row holds the open invitation: there is one at most. Of its token
-- only the SHA-256 is kept.
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
  status text not null default 'active' check (status in ('invited', 'active')),
  invitation_id text,
  invitation_hash bytea,
  invitation_expires_at timestamptz,
  -- The user id that the invitation was answered with, where somebody joined with another.
  invited_as text,
  rate_limits jsonb,
  primary key (workspace_id, user_id),
  -- An invitation is there whole or not at all, and exactly while the member is invited.
  constraint members_invitation check ((status = 'invited') = (invitation_hash is not null)
    and (invitation_hash is null) = (invitation_id is null) and (invitation_hash is null) = (invitation_expires_at is null))
);
create index members_by_user on members (user_id);
create unique index members_by_invitation on members (invitation_hash) where invitation_hash is not null;
create index members_by_invited_as on members (workspace_id, invited_as) where invited_as is not null;

-- Members who were just removed, for a way back within ten minutes.
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

-- The credentials of callers. The value of a key can be replaced while its record stays: same id, same caps, same counters. The
-- value before stays known, and works until previous_expires_at; a second rotation forgets it.
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
  -- The member it belongs to, whose caps and limits hold for it too.
  created_by text,
  cap_total_nano bigint check (cap_total_nano >= 0),
  cap_monthly_nano bigint check (cap_monthly_nano >= 0),
  cap_weekly_nano bigint check (cap_weekly_nano >= 0),
  cap_daily_nano bigint check (cap_daily_nano >= 0),
  cap_hard boolean not null default false,
  model_allowlist jsonb not null default '[]',
  routing jsonb,
  -- Whether a request may name its own providers and order.
  allow_request_override boolean not null default false,
  rate_limits jsonb,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- How many times the value was replaced: tells which value a call was authenticated with.
  rotations integer not null default 0,
  previous_lookup bytea,
  previous_expires_at timestamptz,
  -- What administrators set of the key, as its owner may not go beyond it: {model_allowlist, rate_limits, expires_at}, each
  -- absent where no administrator set it.
  bounds jsonb not null default '{}',
  primary key (workspace_id, id),
  constraint api_keys_previous check ((previous_lookup is null) = (previous_expires_at is null))
);
create unique index api_keys_by_lookup on api_keys (lookup);
create index api_keys_by_id on api_keys (id);
create unique index api_keys_by_previous_lookup on api_keys (previous_lookup) where previous_lookup is not null;

-- Where a key is used from: an address a row, counted up for as long as it is seen within 30 days.
create table key_clients (
  key_id text not null,
  address text not null check (octet_length(address) between 1 and 100),
  -- What the program says it is, the last time.
  user_agent text not null check (length(user_agent) <= 200),
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  requests bigint not null check (requests > 0),
  primary key (key_id, address)
);
create index key_clients_by_last on key_clients (last_seen_at);

-- Organizations, workspaces, users, members, and API keys. docs/management.md. Every table of a workspace has workspace_id first in its
-- key, so that the database can be distributed by it (docs/scale.md). Money is nano-USD in bigint. A null cap is no limit; a cap of 0
-- allows no spending. A soft cap admits calls until its amount is spent. A hard cap (cap_hard) also counts reservations, so that it is
-- never exceeded.

-- The outermost layer: the models that its workspaces may use, and the routing of their calls. An empty list allows all models.
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
  -- The secret that signs callbacks is derived from the master key and this number.
  signing_version integer not null default 1,
  signing_enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The time of the last change of the signing secret. For a day the previous secret signs too, so that receivers can change over.
  signing_rotated_at timestamptz,
  -- The URL of spend alerts, which are signed like callbacks. If null, alerts are only log events.
  alert_webhook_url text,
  -- How much the workspace may spend beyond its credits; null: without limit. For workspaces that are not prepaid.
  credit_line_nano bigint default 0 check (credit_line_nano >= 0),
  rate_limits jsonb,
  -- The percentages of a cap that cause an alert: of the workspace's own caps, its members' and its keys'. docs/callbacks.md.
  alert_thresholds integer[] not null default '{50,80,100}'
    check (cardinality(alert_thresholds) <= 5 and 1 <= all (alert_thresholds) and 100 >= all (alert_thresholds)),
  -- Which bodies of calls are kept (request_bodies), and for how long.
  keep_bodies text not null default 'off' check (keep_bodies in ('off', 'errors', 'all')),
  body_retention_days integer not null default 7 check (body_retention_days between 1 and 90)
);
create index workspaces_by_organization on workspaces (organization_id);

-- People. An e-mail address is the name that a person was added under, and proves nothing. Each invitation has its own user, so that a
-- password set by another user opens only that invitation. Only an address that the identity provider has verified belongs to one user.
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

-- A user in a workspace. An invited user has no rights yet, and the row holds the one open invitation. Only the SHA-256 of the
-- invitation's token is kept.
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
  -- The original user id of the invitation, if the person joined with another user.
  invited_as text,
  rate_limits jsonb,
  primary key (workspace_id, user_id),
  -- The columns of an invitation are set together, and only while the member is invited.
  constraint members_invitation check ((status = 'invited') = (invitation_hash is not null)
    and (invitation_hash is null) = (invitation_id is null) and (invitation_hash is null) = (invitation_expires_at is null))
);
create index members_by_user on members (user_id);
create unique index members_by_invitation on members (invitation_hash) where invitation_hash is not null;
create index members_by_invited_as on members (workspace_id, invited_as) where invited_as is not null;

-- Members who were just removed. An administrator can restore them within ten minutes.
create table removed_members (
  workspace_id text not null references workspaces (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  -- The row of `members` as it was.
  member jsonb not null,
  -- The keys that the removal disabled.
  disabled_keys text[] not null,
  removed_at timestamptz not null,
  primary key (workspace_id, user_id)
);

-- The credentials of callers. A rotation replaces the value of a key but keeps its record: same id, caps and counters. The previous
-- value works until previous_expires_at; a second rotation forgets it.
create table api_keys (
  workspace_id text not null,
  id text not null,
  name text not null,
  status text not null default 'active' check (status in ('active', 'disabled', 'revoked')),
  -- HMAC-SHA-256 of the key, by which requests find it.
  lookup bytea not null,
  -- AES-256-GCM of the key, to show it again. Null for legacy keys, which keep only the prefix.
  ciphertext bytea,
  key_prefix text not null,
  key_last4 text not null,
  -- The member who owns it. The member's caps and limits apply too.
  created_by text,
  cap_total_nano bigint check (cap_total_nano >= 0),
  cap_monthly_nano bigint check (cap_monthly_nano >= 0),
  cap_weekly_nano bigint check (cap_weekly_nano >= 0),
  cap_daily_nano bigint check (cap_daily_nano >= 0),
  cap_hard boolean not null default false,
  model_allowlist jsonb not null default '[]',
  routing jsonb,
  -- True if a request may choose its own providers and their order.
  allow_request_override boolean not null default false,
  rate_limits jsonb,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- The number of rotations, which identifies the value that authenticated a call.
  rotations integer not null default 0,
  previous_lookup bytea,
  previous_expires_at timestamptz,
  -- Bounds of an administrator that the key's owner may not exceed: {model_allowlist, rate_limits, expires_at}. A member is absent if
  -- no administrator set it.
  bounds jsonb not null default '{}',
  primary key (workspace_id, id),
  constraint api_keys_previous check ((previous_lookup is null) = (previous_expires_at is null))
);
create unique index api_keys_by_lookup on api_keys (lookup);
create index api_keys_by_id on api_keys (id);
create unique index api_keys_by_previous_lookup on api_keys (previous_lookup) where previous_lookup is not null;

-- The addresses that use a key, one row each. It counts the requests, until the address has made none for 30 days.
create table key_clients (
  key_id text not null,
  address text not null check (octet_length(address) between 1 and 100),
  -- The last User-Agent from this address.
  user_agent text not null check (length(user_agent) <= 200),
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  requests bigint not null check (requests > 0),
  primary key (key_id, address)
);
create index key_clients_by_last on key_clients (last_seen_at);

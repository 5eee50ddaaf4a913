-- Changes of models and providers that operators made while gateways run, beside the configuration file. docs/models.md.

-- Versions of the model list that were fetched from the public list. `list` has one model a line. Version 0, which has no row, is the
-- shipped list.
create table catalog_lists (
  version integer primary key check (version > 0),
  created_at timestamptz not null,
  source text not null,
  models integer not null,
  list text not null
);
-- The version in force. Without a row it is the shipped one.
create table catalog_list_in_force (
  only_row boolean primary key default true check (only_row),
  version integer not null check (version >= 0)
);

-- Providers that were added over the management API. All settings are sealed under the master key, because any header or parameter may
-- be a secret.
create table providers (
  id text primary key check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  -- Counts changes, including those of its credentials.
  version integer not null default 1 check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null check (updated_at >= created_at),
  -- Set while tasks that this provider accepted are unfinished. The row is deleted when they have ended.
  removed_at timestamptz,
  settings bytea not null check (octet_length(settings) between 31 and 2000000)
);
-- The keys of those providers, sealed too. Calls are distributed over them by weight.
create table provider_credentials (
  provider_id text not null references providers (id) on delete cascade,
  id text not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  created_at timestamptz not null,
  weight double precision not null check (weight > 0 and weight < 'infinity'::double precision),
  removed_at timestamptz,
  api_key bytea not null check (octet_length(api_key) between 30 and 20000),
  primary key (provider_id, id)
);

-- Pauses of providers, of any origin: they get no new calls until this time.
create table provider_pauses (
  provider_id text primary key check (octet_length(provider_id) between 1 and 300),
  created_at timestamptz not null,
  until timestamptz not null check (until > created_at)
);

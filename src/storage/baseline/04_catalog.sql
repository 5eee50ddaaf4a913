-- What an operator set about models and providers while gateways run, beside the configuration file. docs/models.md.

-- Lists of models that were taken over from the public list; version 0, which has no row, is the list that is shipped. `list` has one
-- model a line.
create table catalog_lists (
  version integer primary key check (version > 0),
  created_at timestamptz not null,
  source text not null,
  models integer not null,
  list text not null
);
-- Which of them is in force; without a row the shipped one.
create table catalog_list_in_force (
  only_row boolean primary key default true check (only_row),
  version integer not null check (version >= 0)
);

-- Providers that were added over the management API.
-- Everything an operator gave is sealed under the master key: headers and parameters may be secrets whatever they are called.
create table providers (
  id text primary key check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  -- Counts the changes, those of its credentials included.
  version integer not null default 1 check (version > 0),
  created_at timestamptz not null,
  updated_at timestamptz not null check (updated_at >= created_at),
  -- Set while tasks that it took are still under way; the row goes when they have ended.
  removed_at timestamptz,
  settings bytea not null check (octet_length(settings) between 31 and 2000000)
);
-- The keys at those providers, sealed too; calls are spread over them by weight.
create table provider_credentials (
  provider_id text not null references providers (id) on delete cascade,
  id text not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  created_at timestamptz not null,
  weight double precision not null check (weight > 0 and weight < 'infinity'::double precision),
  removed_at timestamptz,
  api_key bytea not null check (octet_length(api_key) between 30 and 20000),
  primary key (provider_id, id)
);

-- Providers of any origin that get no new calls until a moment.
create table provider_pauses (
  provider_id text primary key check (octet_length(provider_id) between 1 and 300),
  created_at timestamptz not null,
  until timestamptz not null check (until > created_at)
);

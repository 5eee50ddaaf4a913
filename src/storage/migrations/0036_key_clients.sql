-- Where a key is used from: an address a row, counted up for as long as it is seen within 30 days. docs/management.md.
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

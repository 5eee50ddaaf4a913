-- The processes that serve this database, each of which says every few seconds how it is doing. docs/management.md.
create table gateways (
  id text primary key check (octet_length(id) between 1 and 100),
  version text not null check (octet_length(version) <= 100),
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  in_flight integer not null check (in_flight >= 0),
  event_loop_p99_ms double precision not null check (event_loop_p99_ms >= 0),
  memory_bytes bigint not null check (memory_bytes >= 0)
);

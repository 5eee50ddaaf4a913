-- How attempts at providers ended, by the minute of the database's clock, summed up over all gateways: what the last hour
-- was like. Rows are deleted after an hour. Unlogged: after a crash of the server the counts begin anew, and no call waits for a disk.
create unlogged table provider_minutes (
  minute timestamptz not null,
  provider text not null check (length(provider) <= 200),
  -- Why there was no answer; empty where there was one.
  outcome text not null check (length(outcome) <= 200),
  attempts bigint not null,
  last_message text check (length(last_message) <= 300),
  primary key (minute, provider, outcome)
) with (fillfactor = 50);

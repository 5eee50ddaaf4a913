-- The ledger's tables. docs/ledger.md tells how it works, and where the functions are that are its rules.
-- Only those write them, but that src/ledger/ledger.ts ends leases of lanes and deletes old lanes. Each of them first locks the accounts that it touches, in the order of workspace_id: that one
-- lock per workspace guards all that is below, so there is nothing to deadlock on, and what a batch reads stays true until it commits.
-- Indexes that are not for looking up one row by its key are made so that they cannot be used for it: on a small table one index
-- looks as good as another, and the plan may stay while the table grows.

-- One row a workspace: the lock, its money, and its own counters (its total is charged_nano).
-- held_nano is the sum of its allowances and holds.
create table ledger_accounts (
  workspace_id text primary key,
  credits_nano bigint not null default 0 check (credits_nano >= 0),
  charged_nano bigint not null default 0 check (charged_nano >= 0),
  held_nano bigint not null default 0 check (held_nano >= 0),
  -- Charged in the month, week and day (UTC; a week begins on Monday) of the latest charge, `last_day`.
  month_nano bigint not null default 0,
  week_nano bigint not null default 0,
  day_nano bigint not null default 0,
  last_day date not null default '-infinity'
) with (fillfactor = 20); -- rewritten by every batch: free space on the page keeps the new version there (HOT)

-- Every workspace has its account from the start, so that there is always a row to lock.
create function ledger_open_account() returns trigger language plpgsql as $$
begin
  insert into ledger_accounts (workspace_id) values (new.id) on conflict do nothing;
  return null;
end $$;
create trigger workspaces_open_account after insert on workspaces
  for each row execute function ledger_open_account();

-- The counters of members and keys: charges for ever, and in the periods of the latest one. What is held is not counted here: only
-- hard caps ask for it, and they add up the open holds and allowances.
create table ledger_spend (
  workspace_id text not null,
  scope text not null check (scope in ('member', 'key')),
  scope_id text not null,
  total_nano bigint not null,
  month_nano bigint not null,
  week_nano bigint not null,
  day_nano bigint not null,
  last_day date not null,
  primary key (workspace_id, scope, scope_id)
) with (fillfactor = 20);

-- Counters of all three layers alike, for reading.
create view ledger_counters as
  select workspace_id, 'workspace' as scope, workspace_id as scope_id, charged_nano as total_nano, month_nano, week_nano, day_nano, last_day
  from ledger_accounts
  union all
  select workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day from ledger_spend;

-- What one image call or task has set aside. Open holds only: a hold is deleted by what ends it, and its entry tells the rest.
create table ledger_holds (
  workspace_id text not null,
  id text not null,
  key_id text not null,
  member_id text,
  kind text not null,
  amount_nano bigint not null check (amount_nano >= 0),
  -- Past this moment nobody is working on it any more: the sweeper expires it.
  lease_until timestamptz not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
) with (fillfactor = 50); -- a lease is prolonged again and again
-- How many of a workspace wait or run: the queue of images and tasks is bounded.
create index ledger_holds_queued on ledger_holds (workspace_id) where kind in ('image', 'task');
create index ledger_holds_by_key on ledger_holds (key_id, workspace_id);
create index ledger_holds_by_member on ledger_holds (member_id, workspace_id) where member_id is not null;
create index ledger_holds_by_lease on ledger_holds (lease_until);

-- A lane of a gateway: a sequence of batches, one at a time. Kept for a day after its last.
create table ledger_lanes (
  gateway text not null,
  lane integer not null,
  -- That of its latest batch: a fence, which no earlier one passes.
  number bigint not null,
  lease_until timestamptz not null,
  -- Its allowances went back. It must say what its running calls use before it may ask for more.
  lapsed boolean not null,
  primary key (gateway, lane)
) with (fillfactor = 20);
create index ledger_lanes_by_lease on ledger_lanes (lease_until);

-- What a gateway has set aside for the text calls of a key (one of its values).
create table ledger_allowances (
  workspace_id text not null,
  key_id text not null,
  rotation integer not null,
  gateway text not null,
  member_id text,
  amount_nano bigint not null check (amount_nano >= 0),
  -- The part of it that no call needed, as far as the database knows: headroom, and what ended calls left of their bounds.
  idle_nano bigint not null check (idle_nano between 0 and amount_nano),
  primary key (workspace_id, key_id, rotation, gateway)
) with (fillfactor = 20);
-- None by gateway: on a small table it looks as good as the key, and the plan would stay.
create index ledger_allowances_by_member on ledger_allowances (member_id, workspace_id) where member_id is not null;

-- What was credited, charged, voided or expired. The reference of a charge, void or expire is the id of its call or hold; the
-- primary key refuses a second entry of a reference. Only a credit may be below zero: it was taken back.
create table ledger_entries (
  workspace_id text not null,
  reference text not null,
  entry bigint not null generated always as identity,
  kind text not null check (kind in ('credit', 'charge', 'void', 'expire')),
  amount_nano bigint not null,
  -- What the call or hold had set aside; 0 for a credit.
  held_nano bigint not null,
  -- Credits minus charges, this entry included.
  balance_after_nano bigint not null,
  key_id text,
  member_id text,
  note text,
  created_at timestamptz not null,
  primary key (workspace_id, reference),
  constraint ledger_entries_amount_nano_check check (amount_nano >= 0 or kind = 'credit')
);
-- Used only where `entry > 0` is asked for, which all are.
create unique index ledger_entries_in_order on ledger_entries (workspace_id, entry) where entry > 0;
-- Entries are written in the order of time and never moved: a few bytes for each megabyte tell which blocks a period is in, where a
-- tree would cost every charge.
create index ledger_entries_by_time on ledger_entries using brin (created_at) with (pages_per_range = 32, autosummarize = on);

-- Entries are written once, and never changed: neither updated nor deleted, by whomever.
create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger entries are never changed';
end $$;
create trigger ledger_entries_immutable before update or delete on ledger_entries
  for each statement execute function ledger_refuse_change();

-- The only clock of the ledger. Tests put another in its place.
create function ledger_now() returns timestamptz language sql volatile as 'select clock_timestamp()';

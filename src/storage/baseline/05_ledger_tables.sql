-- The ledger's tables. docs/ledger.md explains them, and names the files of the functions that are its rules. Only those functions
-- write the tables, except that src/ledger/ledger.ts ends leases of lanes and deletes old lanes. Each function first locks the accounts
-- that it touches, in the order of workspace_id. This one lock per workspace guards everything below. So no deadlock is possible, and
-- the data that a batch reads stays true until it commits. Indexes that do not look up one row by its key are defined so that such a
-- lookup cannot use them. On a small table the planner prefers any index equally, and it may keep the plan while the table grows.

-- One row a workspace: the lock, its money, and its own counters (its total is charged_nano). held_nano is the sum of its allowances
-- and holds.
create table ledger_accounts (
  workspace_id text primary key,
  credits_nano bigint not null default 0 check (credits_nano >= 0),
  charged_nano bigint not null default 0 check (charged_nano >= 0),
  held_nano bigint not null default 0 check (held_nano >= 0),
  -- The charges in the month, week and day (UTC; a week begins on Monday) of the latest charge, `last_day`.
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

-- The counters of members and keys: charges in total, and in the periods of the latest charge. Reservations are not counted here. Only
-- hard caps need them, and they add up the open holds and allowances.
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

-- The counters of all three layers, for reading.
create view ledger_counters as
  select workspace_id, 'workspace' as scope, workspace_id as scope_id, charged_nano as total_nano, month_nano, week_nano, day_nano, last_day
  from ledger_accounts
  union all
  select workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day from ledger_spend;

-- The reservation of one image call or task. Only open holds: the end of a hold deletes it, and its entry records the rest.
create table ledger_holds (
  workspace_id text not null,
  id text not null,
  key_id text not null,
  member_id text,
  kind text not null,
  amount_nano bigint not null check (amount_nano >= 0),
  -- After this time no gateway works on it any more: the sweeper expires it.
  lease_until timestamptz not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
) with (fillfactor = 50); -- a lease is extended repeatedly
-- The queue of images and tasks is bounded: this index counts those of a workspace.
create index ledger_holds_queued on ledger_holds (workspace_id) where kind in ('image', 'task');
create index ledger_holds_by_key on ledger_holds (key_id, workspace_id);
create index ledger_holds_by_member on ledger_holds (member_id, workspace_id) where member_id is not null;
create index ledger_holds_by_lease on ledger_holds (lease_until);

-- A lane of a gateway: a sequence of batches, one at a time. Kept for a day after its last batch.
create table ledger_lanes (
  gateway text not null,
  lane integer not null,
  -- The number of its latest batch: a fence that rejects earlier ones.
  number bigint not null,
  lease_until timestamptz not null,
  -- True if its allowances were returned. Before it may reserve more, it must report the use of its running calls.
  lapsed boolean not null,
  primary key (gateway, lane)
) with (fillfactor = 20);
create index ledger_lanes_by_lease on ledger_lanes (lease_until);

-- The reservation of a gateway for the text calls of a key (of one value of the key).
create table ledger_allowances (
  workspace_id text not null,
  key_id text not null,
  rotation integer not null,
  gateway text not null,
  member_id text,
  amount_nano bigint not null check (amount_nano >= 0),
  -- The part that no call needs, as far as the database knows: headroom, and the unused rest of ended calls' bounds.
  idle_nano bigint not null check (idle_nano between 0 and amount_nano),
  primary key (workspace_id, key_id, rotation, gateway)
) with (fillfactor = 20);
-- No index by gateway: on a small table the planner prefers it equally to the key, and would keep that plan.
create index ledger_allowances_by_member on ledger_allowances (member_id, workspace_id) where member_id is not null;

-- Credits, charges, voids and expiries. The reference of a charge, void or expire is the id of its call or hold. The primary key
-- refuses a second entry of a reference. Only a credit may be negative: a credit that was taken back.
create table ledger_entries (
  workspace_id text not null,
  reference text not null,
  entry bigint not null generated always as identity,
  kind text not null check (kind in ('credit', 'charge', 'void', 'expire')),
  amount_nano bigint not null,
  -- The reservation of the call or hold; 0 for a credit.
  held_nano bigint not null,
  -- Credits minus charges, including this entry.
  balance_after_nano bigint not null,
  key_id text,
  member_id text,
  note text,
  created_at timestamptz not null,
  primary key (workspace_id, reference),
  constraint ledger_entries_amount_nano_check check (amount_nano >= 0 or kind = 'credit')
);
-- The planner uses it only for queries with `entry > 0`. All queries have that.
create unique index ledger_entries_in_order on ledger_entries (workspace_id, entry) where entry > 0;
-- Entries are written in the order of time and never moved. So a few bytes for each megabyte show which blocks contain a period, while
-- a tree would cost every charge.
create index ledger_entries_by_time on ledger_entries using brin (created_at) with (pages_per_range = 32, autosummarize = on);

-- Entries are written once. No role can update or delete them.
create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger entries are never changed';
end $$;
create trigger ledger_entries_immutable before update or delete on ledger_entries
  for each statement execute function ledger_refuse_change();

-- The only clock of the ledger. Tests replace it.
create function ledger_now() returns timestamptz language sql volatile as 'select clock_timestamp()';

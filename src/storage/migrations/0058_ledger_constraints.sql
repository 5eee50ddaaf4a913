-- What the ledger's rules never write, and the database refuses from now on. docs/ledger.md "Proof". Not validated: no table is read for
-- it, and rows from before were written by the same rules.
-- compatible: the functions of the ledger and the end of a task write none of these rows, in any version.

-- Only a credit and a charge have an amount; only a credit belongs to no key and reserves nothing.
alter table ledger_entries
  add constraint ledger_entries_uncharged check (kind in ('credit', 'charge') or amount_nano = 0) not valid,
  add constraint ledger_entries_key check ((kind = 'credit') = (key_id is null)) not valid,
  add constraint ledger_entries_held check (case kind when 'credit' then held_nano = 0 else held_nano >= 0 end) not valid;

-- A counter below zero would let calls pass a cap.
alter table ledger_accounts
  add constraint ledger_accounts_counters check (least(month_nano, week_nano, day_nano) >= 0) not valid;
alter table ledger_spend
  add constraint ledger_spend_counters check (least(total_nano, month_nano, week_nano, day_nano) >= 0) not valid;

-- Only a task that succeeded costs something.
alter table tasks
  add constraint tasks_cost check (case status when 'succeeded' then cost_nano >= 0 else cost_nano = 0 end) not valid,
  add constraint tasks_reserved check (reserved_nano >= 0) not valid;

-- compatible: no version empties this table, and one that restores a backup has made the schema as of its own migrations before

-- Entries are not emptied at once either: what refuses a change of a row refuses that too, by whomever.
create trigger ledger_entries_kept before truncate on ledger_entries
  for each statement execute function ledger_refuse_change();

-- All credits of a workspace together have a limit: 8 thousand million USD. With the largest credit line beside them (a thousand
-- million) every sum of the ledger is a bigint.
create function ledger_credits_max() returns bigint language sql immutable parallel safe as $$ select 8000000000000000000 $$;

-- As before (08_ledger_holds.sql), and answers with nothing too where the account would have more than that.
create or replace function ledger_credit(p_workspace text, p_amount bigint, p_reference text, p_note text)
returns table (is_new boolean, entry bigint, kind text, amount_nano bigint, balance_after_nano bigint, created_at timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set lock_timeout = '4s' as $$
begin
  perform 1 from ledger_accounts a where a.workspace_id = p_workspace for update;
  return query select false, e.entry, e.kind, e.amount_nano, e.balance_after_nano, e.created_at
    from ledger_entries e where e.workspace_id = p_workspace and e.reference = p_reference;
  if found then
    return;
  end if;
  return query
  with account as (
    update ledger_accounts a set credits_nano = a.credits_nano + p_amount
    where a.workspace_id = p_workspace and a.credits_nano >= -p_amount
      and (p_amount < 0 or p_amount <= ledger_credits_max() - a.credits_nano)
    returning a.credits_nano - a.charged_nano as balance
  )
  insert into ledger_entries as e
    (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, note, created_at)
  select p_workspace, p_reference, 'credit', p_amount, 0, account.balance, p_note, ledger_now() from account
  returning true, e.entry, e.kind, e.amount_nano, e.balance_after_nano, e.created_at;
end $$;

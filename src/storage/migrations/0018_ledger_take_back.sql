-- Credit can be taken back: an entry of kind credit with an amount below zero. All credits of a workspace together stay at or above
-- zero; what is available may become negative, where some of it was spent or is held.
alter table ledger_entries drop constraint ledger_entries_amount_nano_check;
alter table ledger_entries add constraint ledger_entries_amount_nano_check check (amount_nano >= 0 or kind = 'credit');

-- As in 0003_ledger_resolution.sql, but p_amount may be below zero. It answers with nothing also where more than all credits would
-- be taken back.
create or replace function ledger_credit(p_workspace text, p_amount bigint, p_reference text, p_note text, p_now timestamptz)
returns table (is_new boolean, entry bigint, kind text, amount_nano bigint, balance_after_nano bigint, created_at timestamptz)
language plpgsql as $$
begin
  perform ledger_lock(array[p_workspace]);
  return query select false, e.entry, e.kind, e.amount_nano, e.balance_after_nano, e.created_at
    from ledger_entries e where e.workspace_id = p_workspace and e.reference = p_reference;
  if found then
    return;
  end if;
  return query
  with account as (
    update ledger_accounts a set credits_nano = a.credits_nano + p_amount
    where a.workspace_id = p_workspace and a.credits_nano + p_amount >= 0
    returning a.credits_nano - a.charged_nano as balance
  )
  insert into ledger_entries as e
    (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, note, created_at)
  select p_workspace, p_reference, 'credit', p_amount, 0, account.balance, p_note, p_now from account
  returning true, e.entry, e.kind, e.amount_nano, e.balance_after_nano, e.created_at;
end $$;

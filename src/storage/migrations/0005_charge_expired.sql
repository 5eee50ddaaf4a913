-- Charges a call whose hold was expired while the call still ran: a clock that jumped, or a process that was paused for
-- longer than its lease. Its answer has been earned, so it is charged by an entry of its own, whose reference is the
-- hold's id and ':late'; the expire entry stays as it is. Answers with the charge that stands, or with nothing where
-- the hold was not expired.
create function ledger_charge_expired(p_id text, p_workspace text, p_amount bigint, p_now timestamptz)
returns table (amount_nano bigint) language plpgsql as $$
declare
  v_late constant text := p_id || ':late';
begin
  perform ledger_lock(array[p_workspace]);
  insert into ledger_holds (workspace_id, id, key_id, member_id, kind, amount_nano, lease_until, created_at)
  select e.workspace_id, v_late, e.key_id, e.member_id, 'text', 0, p_now, p_now
  from ledger_entries e
  where e.workspace_id = p_workspace and e.reference = p_id and e.kind = 'expire'
    and not exists (
      select 1 from ledger_entries x where x.workspace_id = p_workspace and x.reference = v_late
    );
  perform ledger_resolve(array[v_late], array[p_workspace], array[p_amount], 'charge', p_now);
  return query
    select e.amount_nano from ledger_entries e
    where e.workspace_id = p_workspace and e.reference = v_late and e.kind = 'charge';
end $$;

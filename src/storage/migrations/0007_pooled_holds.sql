-- Queue limits, and holds that many calls share. Design section 5; docs/ledger.md; see 0002_ledger.sql.

-- Holds that count against the queue limits: what waits or runs as a task, and images that are made while their caller waits.
create index ledger_holds_queued on ledger_holds (workspace_id) where kind in ('image', 'task');

-- Reserves one call of the queue. The account's lock guards the count of a workspace; the count of all workspaces needs a
-- lock of its own, which is taken first: whoever waits for it keeps no account from others. Answers as ledger_reserve does,
-- and with queue_full where everything but the queue would have let the call in: then nothing is held.
create function ledger_reserve_queued(
  p_id text, p_workspace text, p_key text, p_amount bigint, p_lease_ms bigint, p_kind text, p_now timestamptz, p_rotation integer,
  p_global integer, p_per_workspace integer
) returns table (item integer, outcome text, cap integer, limit_nano bigint, available_nano bigint)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  perform pg_advisory_xact_lock(7409318200418);
  return query select r.* from ledger_reserve(array[p_id], array[p_workspace],
    ledger_keys_in_force(array[p_workspace], array[p_key], array[p_rotation], p_now),
    array[p_amount], array[p_lease_ms], array[p_kind], p_now) r;
  if found then
    return;
  end if;
  -- The call itself is among those counted.
  if (select count(*) from ledger_holds h where h.workspace_id = p_workspace and h.kind in ('image', 'task')) > p_per_workspace
    or (select count(*) from ledger_holds h where h.kind in ('image', 'task')) > p_global
  then
    delete from ledger_holds h where h.workspace_id = p_workspace and h.id = p_id;
    update ledger_accounts a set held_nano = a.held_nano - p_amount where a.workspace_id = p_workspace;
    return query select 1, 'queue_full'::text, 0, null::bigint, null::bigint;
  end if;
end $$;

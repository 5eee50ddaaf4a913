-- The ledger's rules 5 and 6: holds of image calls and tasks, and leases that ran out. docs/ledger.md.

-- Rule 5: a hold of its own, for an image call or a task, in its caller's transaction, which should do little after it. Answers as
-- ledger_batch does for a key that was not let in, and with nothing where it holds now. Calls of the queue are counted one after
-- another in the whole database; 'queue_full' is told only of what nothing else refuses.
create or replace function ledger_hold(
  p_workspace text, p_id text, p_key text, p_rotation integer, p_kind text, p_amount bigint, p_lease_ms bigint,
  p_global integer, p_per_workspace integer
) returns table (refusal text, available bigint, rooms bigint[], caps bigint[], idle bigint, at timestamptz) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set lock_timeout = '4s' as $$
declare
  r record;
  v_now timestamptz;
begin
  -- First: whoever waits for it keeps no account from others.
  perform pg_advisory_xact_lock(7409318200418);
  perform 1 from ledger_accounts a where a.workspace_id = p_workspace for update;
  v_now := ledger_now();
  if exists (select 1 from ledger_holds h where h.workspace_id = p_workspace and h.id = p_id)
    or exists (select 1 from ledger_entries e where e.workspace_id = p_workspace and e.reference = p_id) then
    return;
  end if;
  select * into r from ledger_admit(p_workspace, p_key, p_rotation, v_now);
  if r.refusal is not null or p_amount > coalesce(least(r.w_room, r.m_room, r.k_room), p_amount) then
    return query select r.refusal, r.available, r.rooms, r.caps, ledger_idle(p_workspace), v_now;
    return;
  end if;
  if (select count(*) from ledger_holds h where h.workspace_id = p_workspace and h.kind in ('image', 'task')) >= p_per_workspace
    or (select count(*) from ledger_holds h where h.kind in ('image', 'task')) >= p_global then
    return query select 'queue_full'::text, r.available, r.rooms, r.caps, 0::bigint, v_now;
    return;
  end if;
  insert into ledger_holds (workspace_id, id, key_id, member_id, kind, amount_nano, lease_until, created_at)
  values (p_workspace, p_id, p_key, r.member_id, p_kind, p_amount, v_now + p_lease_ms * interval '1 ms', v_now);
  update ledger_accounts a set held_nano = a.held_nano + p_amount where a.workspace_id = p_workspace;
end $$;

-- Rule 5: ends a hold: charges it, or (null) voids it. Answers with the entry that stands, and whether this call wrote it; with nothing
-- where there never was such a hold. One that had expired while its work went on is charged by an entry of its own, '<id>:late' (is_late).
create or replace function ledger_settle(p_workspace text, p_id text, p_charge bigint)
returns table (is_new boolean, kind text, amount_nano bigint, is_late boolean) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set lock_timeout = '4s' as $$
declare
  h record;
  v_new boolean := false;
begin
  perform 1 from ledger_accounts a where a.workspace_id = p_workspace for update;
  delete from ledger_holds x where x.workspace_id = p_workspace and x.id = p_id
  returning x.id as reference, x.key_id, x.member_id, x.amount_nano into h;
  if found then
    update ledger_accounts a set held_nano = a.held_nano - h.amount_nano where a.workspace_id = p_workspace;
  elsif p_charge is not null then
    select p_id || ':late' as reference, x.key_id, x.member_id, 0::bigint as amount_nano into h
    from ledger_entries x where x.workspace_id = p_workspace and x.reference = p_id and x.kind = 'expire';
  end if;
  if h.reference is not null then
    v_new := not exists (select 1 from ledger_entries x where x.workspace_id = p_workspace and x.reference = h.reference);
    perform ledger_write(null, ledger_now(), 'void', array[p_workspace], array[h.key_id], array[0], array[h.member_id],
      array[1], array[h.reference], array[p_charge], array[h.amount_nano]);
  end if;
  return query select v_new, x.kind, x.amount_nano, x.reference <> p_id
    from ledger_entries x where x.workspace_id = p_workspace and x.reference = coalesce(h.reference, p_id);
end $$;

-- Rule 6: the lease of a gateway ran out: what it had set aside goes back. Its lanes are told, should it live. False where it has not.
create or replace function ledger_expire(p_gateway text) returns boolean language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set lock_timeout = '200ms' as $$
declare
  v_workspaces text[];
begin
  perform 1 from ledger_lanes l where l.gateway = p_gateway order by l.lane for update;
  v_workspaces := array(select distinct x.workspace_id from ledger_allowances x where x.gateway = p_gateway);
  perform 1 from ledger_accounts a where a.workspace_id = any(v_workspaces) order by a.workspace_id for update;
  if exists (select 1 from ledger_lanes l where l.gateway = p_gateway and l.lease_until > ledger_now()) then
    return false;
  end if;
  update ledger_lanes l set lapsed = true where l.gateway = p_gateway;
  with gone as (
    delete from ledger_allowances x where x.gateway = p_gateway and x.workspace_id = any(v_workspaces)
    returning x.workspace_id, x.amount_nano
  )
  update ledger_accounts a set held_nano = a.held_nano - b.less
  from (select g.workspace_id, sum(g.amount_nano)::bigint as less from gone g group by 1) b
  where a.workspace_id = b.workspace_id;
  return true;
end $$;

-- Rule 6 for holds: up to p_limit of them whose lease ran out end with an `expire` entry; returns how many. Those whose
-- account is locked are left for the next time.
create or replace function ledger_expire_holds(p_limit integer) returns integer language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  v_now timestamptz := ledger_now();
  v_locked text[];
  g record;
begin
  v_locked := array(select x.workspace_id from (
    select a.workspace_id from ledger_accounts a where a.workspace_id in (
      select h.workspace_id from ledger_holds h where h.lease_until <= v_now order by h.lease_until limit p_limit)
    order by a.workspace_id for update skip locked) x);
  v_now := ledger_now();
  with gone as (
    delete from ledger_holds h where (h.workspace_id, h.id) in (
      select h.workspace_id, h.id from ledger_holds h
      where h.lease_until <= v_now and h.workspace_id = any(v_locked) order by h.lease_until limit p_limit)
      and h.lease_until <= v_now
    returning h.*
  ),
  account as (
    update ledger_accounts a set held_nano = a.held_nano - b.less
    from (select x.workspace_id, sum(x.amount_nano)::bigint as less from gone x group by 1) b
    where a.workspace_id = b.workspace_id
  )
  select count(*)::integer as holds, array_agg(x.workspace_id) as workspaces, array_agg(x.key_id) as keys, array_agg(x.member_id) as members,
    array_agg(x.id) as ids, array_agg(x.amount_nano) as amounts into g from gone x;
  perform ledger_write(null, v_now, 'expire', g.workspaces, g.keys, array_fill(0, array[g.holds]), g.members,
    array(select generate_series(1, g.holds)), g.ids, array_fill(null::bigint, array[g.holds]), g.amounts)
  where g.holds > 0;
  return g.holds;
end $$;

-- Keeps open holds for another p_lease_ms from now.
create or replace function ledger_extend(p_workspaces text[], p_ids text[], p_lease_ms bigint) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set lock_timeout = '4s' as $$
begin
  update ledger_holds h set lease_until = greatest(h.lease_until, ledger_now() + p_lease_ms * interval '1 ms')
  from unnest(p_workspaces, p_ids) as i (workspace_id, id)
  where h.workspace_id = i.workspace_id and h.id = i.id;
end $$;

-- ledger_credit stands in 0050_ledger_bounds.sql: it adds credit, or (below zero) takes it back, once per reference. Answers with the
-- entry and whether this call wrote it; with nothing where there is no such workspace, more than all credits would be taken back, or
-- the account would have more than ledger_credits_max().

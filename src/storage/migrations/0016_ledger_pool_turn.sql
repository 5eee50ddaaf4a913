-- Pooled holds that cost less: a turn on one pool has a statement of its own, and a pool may hold spares for calls to come.
alter table ledger_holds
  -- The latest batch that was granted spares with its raise.
  add column spared_by bigint,
  -- The latest giving back of its process: one that comes again after a lost answer is known by it.
  add column given_by bigint;

-- A turn on one pool, which is what most turns are: that of ledger_pooled with scalars where it has sets. Its statements are
-- found by their keys and take half the time of the general ones (0.5 to 0.3 ms embedded, one call). Any turn that does not pass
-- at once - a key that is not in force, caps, too little left, a pool that is not there - is ledger_pooled's to decide.
--   p_ids, p_charges, p_helds, p_charged  the calls that are over, as p_* of ledger_pooled
--   p_charge                              the sum of p_charges, null where all are void
--   p_held, p_given                       the sum of p_helds, and of that many spares, which nobody took and are given back
--   p_new, p_amount, p_begun, p_lease_ms  the raise, as g_* of ledger_pooled; p_begun is 0 where there is none
--   p_spare_amount, p_spare_calls         what the raise would like to have for calls to come, in all; granted ('spare') where the
--                                         key has no caps and 32 times as much is left
create function ledger_pool_turn(
  p_now timestamptz, p_workspace text, p_key text, p_rotation integer, p_pool text,
  p_ids text[], p_charges bigint[], p_helds bigint[], p_charged bigint[], p_charge bigint, p_held bigint, p_given integer,
  p_new boolean, p_amount bigint, p_begun integer, p_spare_amount bigint, p_spare_calls integer, p_lease_ms bigint, p_batch bigint
) returns table (place integer, outcome text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_day constant date := (p_now at time zone 'utc')::date;
  v_month constant date := date_trunc('month', v_day::timestamp)::date;
  v_week constant date := date_trunc('week', v_day::timestamp)::date;
  v_lease constant timestamptz := p_now + p_lease_ms * interval '1 millisecond';
  v_ended constant integer := cardinality(p_ids);
  v_balance bigint;
  v_held bigint;
  v_calls integer;
  v_member text;
  v_passes boolean := true;
  v_free bigint;
  v_amount bigint := p_amount;
  v_begun integer := p_begun;
begin
  select a.credits_nano - a.charged_nano, a.held_nano into v_balance, v_held
  from ledger_accounts a where a.workspace_id = p_workspace for update;

  if p_begun + p_spare_calls > 0 then
    select k.created_by into v_member
    from api_keys k
    join workspaces w on w.id = k.workspace_id
    left join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
    where k.workspace_id = p_workspace and k.id = p_key
      and k.status = 'active' and (k.expires_at is null or k.expires_at > p_now) and w.status = 'active'
      -- As ledger_keys_in_force has it.
      and (p_rotation is null or k.rotations <= p_rotation or k.rotations = p_rotation + 1 and k.previous_expires_at > p_now)
      and num_nonnulls(w.cap_total_nano, w.cap_monthly_nano, w.cap_weekly_nano, w.cap_daily_nano,
        m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano,
        k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano) = 0;
    -- What the calls of this turn had held is free again, and what they cost is not.
    v_free := case when found then v_balance - coalesce(p_charge, 0) - v_held + p_held - p_amount end;
    v_passes := p_begun = 0 or coalesce(v_free >= 0, false);
    if v_passes and p_spare_calls > 0 and v_free >= 32 * p_spare_amount then
      v_amount := p_amount + p_spare_amount;
      v_begun := p_begun + p_spare_calls;
    end if;
  end if;

  if v_passes and p_new then
    insert into ledger_holds (workspace_id, id, key_id, member_id, kind, amount_nano, lease_until, created_at, calls, raised_by,
      spared_by)
    values (p_workspace, p_pool, p_key, v_member, 'text', v_amount, v_lease, p_now, v_begun, p_batch,
      case when v_begun > p_begun then p_batch end);
  elsif v_passes and v_begun > 0 then
    update ledger_holds h set amount_nano = h.amount_nano - p_held + v_amount, calls = h.calls - v_ended - p_given + v_begun,
      raised_by = p_batch, spared_by = case when v_begun > p_begun then p_batch else h.spared_by end,
      lease_until = greatest(h.lease_until, v_lease)
    where h.workspace_id = p_workspace and h.id = p_pool and h.raised_by is distinct from p_batch;
    v_passes := found;
  elsif v_passes and v_ended > 0 then
    update ledger_holds h set amount_nano = h.amount_nano - p_held, calls = h.calls - v_ended - p_given
    where h.workspace_id = p_workspace and h.id = p_pool
    returning h.calls, h.member_id into v_calls, v_member;
    v_passes := found;
  end if;

  if not v_passes then
    return query select t.place, t.outcome from ledger_pooled(p_now,
      case when v_ended > 0 then array[p_workspace] else '{}' end, case when v_ended > 0 then array[p_pool] else '{}' end,
      array[p_charge], array[p_held], array[v_ended],
      p_ids, array_fill(1, array[v_ended]), p_charges, p_helds, p_charged,
      case when p_begun > 0 then array[p_workspace] else '{}' end, array[p_key], array[p_rotation],
      case when p_begun > 0 then array[p_pool] else '{}' end, array[p_new], array[p_amount], array[p_amount], array[p_begun],
      array[p_lease_ms], p_batch) t;
    return;
  end if;

  if v_ended > 0 then
    insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano,
      key_id, member_id, created_at)
    select p_workspace, i.id, case when i.charge is null then 'void' else 'charge' end, coalesce(i.charge, 0), i.held,
      v_balance - i.charged, p_key, v_member, p_now
    from unnest(p_ids, p_charges, p_helds, p_charged) as i (id, charge, held, charged);
  end if;
  if p_charge is not null then
    insert into ledger_spend as s (workspace_id, scope, scope_id, total_nano,
      month_start, month_nano, week_start, week_nano, day_start, day_nano)
    select p_workspace, x.scope, x.scope_id, p_charge, v_month, p_charge, v_week, p_charge, v_day, p_charge
    from (values ('workspace', p_workspace), ('member', v_member), ('key', p_key)) x (scope, scope_id)
    where x.scope_id is not null
    on conflict (workspace_id, scope, scope_id) do update set
      total_nano = s.total_nano + excluded.total_nano,
      month_nano = case when s.month_start = excluded.month_start then s.month_nano + excluded.month_nano
        when s.month_start < excluded.month_start then excluded.month_nano else s.month_nano end,
      month_start = greatest(s.month_start, excluded.month_start),
      week_nano = case when s.week_start = excluded.week_start then s.week_nano + excluded.week_nano
        when s.week_start < excluded.week_start then excluded.week_nano else s.week_nano end,
      week_start = greatest(s.week_start, excluded.week_start),
      day_nano = case when s.day_start = excluded.day_start then s.day_nano + excluded.day_nano
        when s.day_start < excluded.day_start then excluded.day_nano else s.day_nano end,
      day_start = greatest(s.day_start, excluded.day_start);
  end if;
  update ledger_accounts a set charged_nano = a.charged_nano + coalesce(p_charge, 0), held_nano = v_held - p_held + v_amount
  where a.workspace_id = p_workspace;
  if v_calls = 0 then
    delete from ledger_holds h where h.workspace_id = p_workspace and h.id = p_pool;
  end if;
  if v_begun > p_begun then
    return query select 1, 'spare';
  end if;
end $$;

-- Takes out of a pool what was reserved for calls that did not come; where the pool is gone, or this was done before, it does nothing.
create function ledger_give_back(p_workspace text, p_pool text, p_amount bigint, p_calls integer, p_number bigint) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  perform 1 from ledger_accounts a where a.workspace_id = p_workspace for update;
  update ledger_holds h set amount_nano = h.amount_nano - p_amount, calls = h.calls - p_calls, given_by = p_number
  where h.workspace_id = p_workspace and h.id = p_pool and h.given_by is distinct from p_number;
  if found then
    update ledger_accounts a set held_nano = a.held_nano - p_amount where a.workspace_id = p_workspace;
    delete from ledger_holds h where h.workspace_id = p_workspace and h.id = p_pool and h.calls = 0;
  end if;
end $$;

-- As in 0007_pooled_holds.sql, but answers also whether spares were granted.
drop function ledger_raised(text[], text[], bigint);
create function ledger_raised(p_workspaces text[], p_pools text[], p_batch bigint)
returns table (place integer, spared boolean) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  perform ledger_lock(p_workspaces);
  return query select i.ord::integer, coalesce(h.spared_by = p_batch, false)
    from unnest(p_workspaces, p_pools) with ordinality as i (workspace_id, pool, ord)
    join ledger_holds h on h.workspace_id = i.workspace_id and h.id = i.pool and h.raised_by = p_batch;
end $$;

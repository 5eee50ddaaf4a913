-- The ledger without spares (reservations in advance): what gave them back could lower an account without its pool, and could be
-- applied twice. What is held must not become negative any more, and what 0016_ledger_pool_turn.sql added for spares is gone.

-- Nothing else moves money until this is committed: what is held is the sum of the open holds, in every account.
lock table ledger_accounts in access exclusive mode;
update ledger_accounts a set held_nano = h.held
from (
  select x.workspace_id, coalesce(sum(o.amount_nano), 0)::bigint as held
  from ledger_accounts x left join ledger_holds o on o.workspace_id = x.workspace_id
  group by 1
) h
where h.workspace_id = a.workspace_id and a.held_nano <> h.held;
alter table ledger_accounts add constraint ledger_accounts_held_nano_check check (held_nano >= 0);

drop function ledger_pool_turn(timestamptz, text, text, integer, text, text[], bigint[], bigint[], bigint[], bigint, bigint, integer,
  boolean, bigint, integer, bigint, integer, bigint, bigint);
drop function ledger_give_back(text, text, bigint, integer, bigint);
drop function ledger_raised(text[], text[], bigint);
alter table ledger_holds drop column spared_by, drop column given_by;

-- A turn on one pool, as in 0016_ledger_pool_turn.sql, without spares. A batch raises a pool only while no later one has: a statement
-- whose connection was lost may reach the server after it was sent again, and after the batches that followed.
--   p_ids, p_charges, p_helds, p_charged  the calls that are over, as p_* of ledger_pooled
--   p_charge, p_held                      the sums of p_charges (null where all are void) and p_helds
--   p_new, p_amount, p_begun, p_lease_ms  the raise, as g_* of ledger_pooled; p_begun is 0 where there is none
create function ledger_pool_turn(
  p_now timestamptz, p_workspace text, p_key text, p_rotation integer, p_pool text,
  p_ids text[], p_charges bigint[], p_helds bigint[], p_charged bigint[], p_charge bigint, p_held bigint,
  p_new boolean, p_amount bigint, p_begun integer, p_lease_ms bigint, p_batch bigint
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
begin
  select a.credits_nano - a.charged_nano, a.held_nano into v_balance, v_held
  from ledger_accounts a where a.workspace_id = p_workspace for update;

  if p_begun > 0 then
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
    v_passes := found and v_balance - coalesce(p_charge, 0) - v_held + p_held - p_amount >= 0;
  end if;

  if v_passes and p_new then
    insert into ledger_holds (workspace_id, id, key_id, member_id, kind, amount_nano, lease_until, created_at, calls, raised_by)
    values (p_workspace, p_pool, p_key, v_member, 'text', p_amount, v_lease, p_now, p_begun, p_batch);
  elsif v_passes and p_begun > 0 then
    update ledger_holds h set amount_nano = h.amount_nano - p_held + p_amount, calls = h.calls - v_ended + p_begun,
      raised_by = p_batch, lease_until = greatest(h.lease_until, v_lease)
    where h.workspace_id = p_workspace and h.id = p_pool and h.raised_by < p_batch;
    v_passes := found;
  elsif v_passes and v_ended > 0 then
    update ledger_holds h set amount_nano = h.amount_nano - p_held, calls = h.calls - v_ended
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
  update ledger_accounts a set charged_nano = a.charged_nano + coalesce(p_charge, 0), held_nano = v_held - p_held + p_amount
  where a.workspace_id = p_workspace;
  if v_calls = 0 then
    delete from ledger_holds h where h.workspace_id = p_workspace and h.id = p_pool;
  end if;
end $$;

-- As in 0007_pooled_holds.sql, but for the order of batches.
create or replace function ledger_pooled(
  p_now timestamptz,
  q_workspaces text[], q_pools text[], q_charges bigint[], q_helds bigint[], q_calls integer[],
  p_ids text[], p_pools integer[], p_charges bigint[], p_helds bigint[], p_charged bigint[],
  g_workspaces text[], g_keys text[], g_rotations integer[], g_pools text[], g_new boolean[], g_amounts bigint[],
  g_totals bigint[], g_calls integer[], g_lease_ms bigint[], p_batch bigint
) returns table (place integer, outcome text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_mergejoin = off
as $$
declare
  v_day constant date := (p_now at time zone 'utc')::date;
  v_month constant date := date_trunc('month', v_day::timestamp)::date;
  v_week constant date := date_trunc('week', v_day::timestamp)::date;
  v_empty boolean;
  v_raised integer[];
begin
  perform 1 from ledger_accounts a where a.workspace_id = any(q_workspaces || g_workspaces) order by a.workspace_id for update;

  if cardinality(p_ids) > 0 then
    return query select q.ord::integer, 'gone' from unnest(q_workspaces, q_pools) with ordinality q (workspace_id, pool, ord)
      where not exists (select 1 from ledger_holds h where h.workspace_id = q.workspace_id and h.id = q.pool);
    if not found then
      with pool as materialized (
        select q.ord::integer as ord, h.workspace_id, h.id, h.key_id, h.member_id, q.charge, q.held, q.calls,
          a.credits_nano - a.charged_nano as balance
        from unnest(q_workspaces, q_pools, q_charges, q_helds, q_calls) with ordinality
          as q (workspace_id, pool, charge, held, calls, ord)
        join ledger_holds h on h.workspace_id = q.workspace_id and h.id = q.pool
        join ledger_accounts a on a.workspace_id = q.workspace_id
      ),
      written as (
        insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano,
          key_id, member_id, created_at)
        select p.workspace_id, i.id, case when i.charge is null then 'void' else 'charge' end, coalesce(i.charge, 0), i.held,
          p.balance - i.charged, p.key_id, p.member_id, p_now
        from unnest(p_ids, p_pools, p_charges, p_helds, p_charged) with ordinality as i (id, pool, charge, held, charged, ord)
        join pool p on p.ord = i.pool
        order by i.ord
      ),
      lowered as (
        update ledger_holds h set amount_nano = h.amount_nano - p.held, calls = h.calls - p.calls
        from pool p where h.workspace_id = p.workspace_id and h.id = p.id
        returning h.calls
      ),
      account as (
        update ledger_accounts a set charged_nano = a.charged_nano + m.charge, held_nano = a.held_nano - m.held
        from (
          select x.workspace_id, coalesce(sum(x.charge), 0)::bigint as charge, sum(x.held)::bigint as held from pool x group by 1
        ) m
        where a.workspace_id = m.workspace_id
      ),
      counted as (
        insert into ledger_spend as s (workspace_id, scope, scope_id, total_nano,
          month_start, month_nano, week_start, week_nano, day_start, day_nano)
        select p.workspace_id, x.scope, x.scope_id, sum(p.charge)::bigint,
          v_month, sum(p.charge)::bigint, v_week, sum(p.charge)::bigint, v_day, sum(p.charge)::bigint
        from pool p
        cross join lateral (values ('workspace', p.workspace_id), ('member', p.member_id), ('key', p.key_id)) x (scope, scope_id)
        where x.scope_id is not null and p.charge is not null
        group by 1, 2, 3
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
          day_start = greatest(s.day_start, excluded.day_start)
      )
      select bool_or(l.calls = 0) into v_empty from lowered l;
    end if;
  end if;

  if cardinality(g_pools) > 0 then
    with fitting as materialized (
      select g.ord::integer as ord, g.workspace_id, g.key_id, k.created_by as member_id, g.pool, g.is_new, g.amount, g.calls,
        p_now + g.lease_ms * interval '1 millisecond' as lease_until
      from unnest(g_workspaces, g_keys, g_rotations, g_pools, g_new, g_amounts, g_totals, g_calls, g_lease_ms) with ordinality
        as g (workspace_id, key_id, rotation, pool, is_new, amount, total, calls, lease_ms, ord)
      join api_keys k on k.workspace_id = g.workspace_id and k.id = g.key_id
      join workspaces w on w.id = g.workspace_id
      join ledger_accounts a on a.workspace_id = g.workspace_id
      left join members m on m.workspace_id = g.workspace_id and m.user_id = k.created_by
      where k.status = 'active' and (k.expires_at is null or k.expires_at > p_now) and w.status = 'active'
        -- As ledger_keys_in_force has it.
        and (g.rotation is null or k.rotations <= g.rotation or k.rotations = g.rotation + 1 and k.previous_expires_at > p_now)
        and a.credits_nano - a.charged_nano - a.held_nano >= g.total
        and (num_nonnulls(w.cap_total_nano, w.cap_monthly_nano, w.cap_weekly_nano, w.cap_daily_nano,
            m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano,
            k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano) = 0
          or ledger_caps_fit(g.workspace_id, k.created_by, g.key_id, g.total, v_day))
    ),
    held as (
      update ledger_holds h set amount_nano = h.amount_nano + f.amount, calls = h.calls + f.calls, raised_by = p_batch,
        lease_until = greatest(h.lease_until, f.lease_until)
      from fitting f
      where not f.is_new and h.workspace_id = f.workspace_id and h.id = f.pool and h.raised_by < p_batch
      returning f.ord, f.workspace_id, f.amount
    ),
    opened as (
      insert into ledger_holds (workspace_id, id, key_id, member_id, kind, amount_nano, lease_until, created_at, calls, raised_by)
      select f.workspace_id, f.pool, f.key_id, f.member_id, 'text', f.amount, f.lease_until, p_now, f.calls, p_batch
      from fitting f where f.is_new
    ),
    raised as materialized (
      select h.ord, h.workspace_id, h.amount from held h
      union all
      select f.ord, f.workspace_id, f.amount from fitting f where f.is_new
    ),
    account as (
      update ledger_accounts a set held_nano = a.held_nano + s.amount
      from (select x.workspace_id, sum(x.amount)::bigint as amount from raised x group by 1) s
      where a.workspace_id = s.workspace_id
    )
    select coalesce(array_agg(r.ord), '{}') into v_raised from raised r;
    if cardinality(v_raised) < cardinality(g_pools) then
      return query
      select g.ord::integer, case when g.is_new or h.id is not null then 'unfit' else 'lost' end
      from unnest(g_workspaces, g_pools, g_new) with ordinality as g (workspace_id, pool, is_new, ord)
      left join ledger_holds h on h.workspace_id = g.workspace_id and h.id = g.pool
      where g.ord::integer <> all (v_raised);
    end if;
  end if;

  if v_empty then
    delete from ledger_holds h using unnest(q_workspaces, q_pools) as q (workspace_id, pool)
    where h.workspace_id = q.workspace_id and h.id = q.pool and h.calls = 0;
  end if;
end $$;

-- As in 0007_pooled_holds.sql.
create function ledger_raised(p_workspaces text[], p_pools text[], p_batch bigint)
returns table (place integer) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  perform ledger_lock(p_workspaces);
  return query select i.ord::integer
    from unnest(p_workspaces, p_pools) with ordinality as i (workspace_id, pool, ord)
    join ledger_holds h on h.workspace_id = i.workspace_id and h.id = i.pool and h.raised_by = p_batch;
end $$;

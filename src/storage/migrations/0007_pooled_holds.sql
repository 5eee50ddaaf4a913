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

-- A pooled hold: what all calls of one process that run on one key have reserved together. One row is rewritten by a batch
-- where each call would have written and deleted a row of its own. It is open while calls > 0, and its id is never used again.
alter table ledger_holds
  add column calls integer not null default 1 check (calls >= 0),
  -- The latest batch of its process that raised it: a batch that comes again after a lost answer is known by it.
  add column raised_by bigint,
  set (fillfactor = 50);

-- True where no cap of the three layers stops any of a batch's calls on a key. p_amount is what the batch reserves in the
-- whole workspace: for a hard cap of the member or key it may be too much, and then the calls are decided one by one.
create function ledger_caps_fit(p_workspace text, p_member text, p_key text, p_amount bigint, p_day date) returns boolean language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  return coalesce((
      select ledger_cap(array[w.cap_total_nano, w.cap_monthly_nano, w.cap_weekly_nano, w.cap_daily_nano],
        ledger_spent(s, p_day), case when w.cap_hard then a.held_nano + p_amount end) = 0
      from workspaces w
      join ledger_accounts a on a.workspace_id = w.id
      left join ledger_spend s on s.workspace_id = w.id and s.scope = 'workspace' and s.scope_id = w.id
      where w.id = p_workspace
    ), true)
    and coalesce((
      select ledger_cap(array[m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano],
        ledger_spent(s, p_day), case when m.cap_hard then p_amount + (
          select coalesce(sum(h.amount_nano), 0)::bigint from ledger_holds h
          where h.workspace_id = p_workspace and h.member_id = p_member
        ) end) = 0
      from members m
      left join ledger_spend s on s.workspace_id = m.workspace_id and s.scope = 'member' and s.scope_id = m.user_id
      where m.workspace_id = p_workspace and m.user_id = p_member
    ), true)
    and coalesce((
      select ledger_cap(array[k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano],
        ledger_spent(s, p_day), case when k.cap_hard then p_amount + (
          select coalesce(sum(h.amount_nano), 0)::bigint from ledger_holds h
          where h.workspace_id = p_workspace and h.key_id = p_key
        ) end) = 0
      from api_keys k
      left join ledger_spend s on s.workspace_id = k.workspace_id and s.scope = 'key' and s.scope_id = k.id
      where k.workspace_id = p_workspace and k.id = p_key
    ), true);
end $$;

-- One turn of a process with its pooled calls: first those that are over, then those that begin.
--   q_*  the pools whose calls are over: sums of what those calls cost (null where all are void) and had held, and how many
--   p_*  the calls themselves, in the order of their entries: the place of its pool in q_*, its cost (null: void), what it had
--        held, and what was charged to its workspace in this turn up to and with it
--   g_*  the pools that are raised, one row for each key: by how much (g_totals: by all rows of its workspace together) and
--        for how many calls; g_new where it does not exist yet
-- A pool of q_* that is not there any more was expired: then no call is settled, and the answer names such pools ('gone').
-- A pool of g_* is raised only where all its calls pass every check, whatever else of the batch passes; others are answered
-- 'unfit' and decided one by one, by ledger_reserve. One that should be there and is not is answered 'lost'.
create function ledger_pooled(
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
      where not f.is_new and h.workspace_id = f.workspace_id and h.id = f.pool and h.raised_by is distinct from p_batch
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

-- What became of calls whose settling got no answer: their entries, as far as there are any. The lock waits for a
-- transaction that may still be under way.
create function ledger_settled(p_workspaces text[], p_ids text[])
returns table (item integer, entry_kind text, amount_nano bigint) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  perform ledger_lock(p_workspaces);
  return query select i.ord::integer, e.kind, e.amount_nano
    from unnest(p_workspaces, p_ids) with ordinality as i (workspace_id, id, ord)
    join ledger_entries e on e.workspace_id = i.workspace_id and e.reference = i.id;
end $$;

-- Which pools a batch that got no answer has raised.
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

-- Calls whose pool was expired while they ran, now that they are over and can be named: an expire entry for each, as a hold
-- of its own would have got. What they had held is in their pool's entry.
create function ledger_expire_calls(p_ids text[], p_workspaces text[], p_keys text[], p_now timestamptz) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
begin
  perform ledger_lock(p_workspaces);
  insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano,
    key_id, member_id, created_at)
  select i.workspace_id, i.id, 'expire', 0, 0, a.credits_nano - a.charged_nano, i.key_id, k.created_by, p_now
  from unnest(p_ids, p_workspaces, p_keys) as i (id, workspace_id, key_id)
  join ledger_accounts a on a.workspace_id = i.workspace_id
  left join api_keys k on k.workspace_id = i.workspace_id and k.id = i.key_id
  on conflict do nothing;
end $$;

-- As in 0003_ledger_resolution.sql, but answers with how many calls the holds were for.
create or replace function ledger_expire(p_now timestamptz, p_limit integer) returns integer language plpgsql as $$
declare
  v_ids text[];
  v_workspaces text[];
  v_calls integer[];
begin
  select array_agg(x.id), array_agg(x.workspace_id), array_agg(x.calls) into v_ids, v_workspaces, v_calls
  from (select h.id, h.workspace_id, h.calls from ledger_holds h where h.lease_until <= p_now limit p_limit) x;
  if v_ids is null then
    return 0;
  end if;
  return (
    with missed as materialized (
      select r.item
      from ledger_resolve(v_ids, v_workspaces, array_fill(0::bigint, array[cardinality(v_ids)]), 'expire', p_now) r
    )
    select coalesce(sum(x.calls), 0) from unnest(v_calls) with ordinality as x (calls, ord)
    where not exists (select 1 from missed where missed.item = x.ord)
  );
end $$;

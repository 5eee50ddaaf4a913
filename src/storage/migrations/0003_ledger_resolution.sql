-- How holds end, are kept and are paid for: resolve, expire, extend, credit. Design section 5; see 0002_ledger.sql.

-- Resolves a batch of holds: writes the entry, releases the hold, moves the counters. Answers with the items it found
-- no open hold for: their entry's kind and amount, or nulls. p_kind is charge, void or expire; an expire leaves alone
-- what is not past its lease. Ids are distinct within a batch.
create function ledger_resolve(
  p_ids text[], p_workspaces text[], p_amounts bigint[], p_kind text, p_now timestamptz
) returns table (item integer, entry_kind text, amount_nano bigint)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_day constant date := (p_now at time zone 'utc')::date;
  v_month constant date := date_trunc('month', v_day::timestamp)::date;
  v_week constant date := date_trunc('week', v_day::timestamp)::date;
begin
  perform ledger_lock(p_workspaces);
  return query
  with input as materialized (
    select i.id, i.workspace_id, i.amount, i.ord::integer as ord
    from unnest(p_ids, p_workspaces, p_amounts) with ordinality as i (id, workspace_id, amount, ord)
  ),
  gone as materialized (
    delete from ledger_holds h using input i
    where h.workspace_id = i.workspace_id and h.id = i.id and (p_kind <> 'expire' or h.lease_until <= p_now)
    returning i.ord, i.amount as charge, h.workspace_id, h.id, h.key_id, h.member_id, h.amount_nano as held
  ),
  written as (
    insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano,
      key_id, member_id, created_at)
    select g.workspace_id, g.id, p_kind, g.charge, g.held,
      a.credits_nano - a.charged_nano - sum(g.charge) over (partition by g.workspace_id order by g.ord),
      g.key_id, g.member_id, p_now
    from gone g join ledger_accounts a on a.workspace_id = g.workspace_id
    order by g.ord
  ),
  moved as materialized (
    select g.workspace_id, g.key_id, g.member_id, sum(g.charge)::bigint as charge, sum(g.held)::bigint as held
    from gone g group by 1, 2, 3
  ),
  account as (
    update ledger_accounts a set charged_nano = a.charged_nano + m.charge, held_nano = a.held_nano - m.held
    from (
      select x.workspace_id, sum(x.charge)::bigint as charge, sum(x.held)::bigint as held from moved x group by 1
    ) m
    where a.workspace_id = m.workspace_id
  ),
  counted as (
    insert into ledger_spend as s (workspace_id, scope, scope_id, total_nano,
      month_start, month_nano, week_start, week_nano, day_start, day_nano)
    select m.workspace_id, x.scope, x.scope_id, sum(m.charge)::bigint,
      v_month, sum(m.charge)::bigint, v_week, sum(m.charge)::bigint, v_day, sum(m.charge)::bigint
    from moved m
    cross join lateral (values ('workspace', m.workspace_id), ('member', m.member_id), ('key', m.key_id)) x (scope, scope_id)
    where x.scope_id is not null and p_kind = 'charge'
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
  select missing.ord, e.kind, e.amount_nano
  from (
    select i.ord, i.workspace_id, i.id from input i
    where not exists (select 1 from gone g where g.ord = i.ord)
    offset 0
  ) missing
  left join lateral (
    select x.kind, x.amount_nano from ledger_entries x
    where x.workspace_id = missing.workspace_id and x.reference = missing.id limit 1
  ) e on true;
end $$;

-- Expires up to p_limit holds that are past their lease; returns how many. Sweepers may run at the same time.
create function ledger_expire(p_now timestamptz, p_limit integer) returns integer language plpgsql as $$
declare
  v_ids text[];
  v_workspaces text[];
  v_missed integer;
begin
  select array_agg(x.id), array_agg(x.workspace_id) into v_ids, v_workspaces
  from (select h.id, h.workspace_id from ledger_holds h where h.lease_until <= p_now limit p_limit) x;
  if v_ids is null then
    return 0;
  end if;
  select count(*) into v_missed
  from ledger_resolve(v_ids, v_workspaces, array_fill(0::bigint, array[cardinality(v_ids)]), 'expire', p_now);
  return cardinality(v_ids) - v_missed;
end $$;

-- Moves the leases of open holds; answers with the items that are still open.
create function ledger_extend(p_ids text[], p_workspaces text[], p_lease_ms bigint[], p_now timestamptz)
returns table (item integer) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  perform ledger_lock(p_workspaces);
  return query
  update ledger_holds h
  set lease_until = greatest(h.lease_until, p_now + i.lease_ms * interval '1 millisecond')
  from unnest(p_ids, p_workspaces, p_lease_ms) with ordinality as i (id, workspace_id, lease_ms, ord)
  where h.workspace_id = i.workspace_id and h.id = i.id
  returning i.ord::integer;
end $$;

-- Adds credit once per reference. Answers with the entry and whether this call wrote it; with nothing where there is no
-- such workspace. An entry of another kind under the same reference is answered too: the caller tells them apart.
create function ledger_credit(p_workspace text, p_amount bigint, p_reference text, p_note text, p_now timestamptz)
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
    where a.workspace_id = p_workspace
    returning a.credits_nano - a.charged_nano as balance
  )
  insert into ledger_entries as e
    (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, note, created_at)
  select p_workspace, p_reference, 'credit', p_amount, 0, account.balance, p_note, p_now from account
  returning true, e.entry, e.kind, e.amount_nano, e.balance_after_nano, e.created_at;
end $$;

-- The ledger's rules 2 to 4: counting, allowances, and the batches that gateways send. docs/ledger.md.

-- What a gateway has set aside for a key, and where its row is: found by the whole key, whatever the tables look like (offset 0). The
-- planner takes it into its caller's query.
create or replace function ledger_allowance(p_workspace text, p_key text, p_rotation integer, p_gateway text)
returns table (at_row tid, amount_nano bigint, idle_nano bigint, member_id text) language sql stable as $$
  select y.ctid, y.amount_nano, y.idle_nano, y.member_id from ledger_allowances y
  where y.workspace_id = p_workspace and y.key_id = p_key and y.rotation = p_rotation and y.gateway = p_gateway offset 0
$$;

-- Rule 2, counting: entries of what is over, what they draw, and the counters. The accounts are locked. What was written before is
-- left out. A charge counts in the period of p_now, or in a later one in which something was charged before the clock went back.
--   p_gateway  whose allowances are drawn on, or null; p_void: what an entry without a charge is, void or expire
--   k_*        the keys; k_members: the owner of the key, looked up where null
--   e_place    an entry's key in k_*; e_charge: null for a void; e_bound: what its call or task had set aside
create or replace function ledger_write(
  p_gateway text, p_now timestamptz, p_void text,
  k_workspaces text[], k_keys text[], k_rotations integer[], k_members text[],
  e_places integer[], e_ids text[], e_charges bigint[], e_bounds bigint[]
) returns void language plpgsql as $$
declare
  v_day constant date := (p_now at time zone 'utc')::date;
  v_week constant date := date_trunc('week', p_now at time zone 'utc')::date;
  v_month constant date := date_trunc('month', p_now at time zone 'utc')::date;
begin
  with e as materialized (
    select i.*, k.workspace_id, k.key_id, k.rotation, k.member_id
    from unnest(e_places, e_ids, e_charges, e_bounds) with ordinality as i (place, id, charge, bound, ord)
    join unnest(k_workspaces, k_keys, k_rotations, k_members) with ordinality as k (workspace_id, key_id, rotation, member_id, place)
      on k.place = i.place
    -- offset 0: one look by the key for each, never all entries at once because they were few when this was planned
    where not exists (select 1 from ledger_entries x where x.workspace_id = k.workspace_id and x.reference = i.id offset 0)
  ),
  by_key as materialized (
    select b.place, b.workspace_id, b.key_id, a.at_row, b.charge, least(b.draw, coalesce(a.amount_nano, 0)) as drawn,
      least(b.bound, coalesce(a.amount_nano, 0)) - least(b.draw, coalesce(a.amount_nano, 0)) as freed,
      coalesce(b.member_id, a.member_id,
        (select x.created_by from api_keys x where x.workspace_id = b.workspace_id and x.id = b.key_id)) as member_id
    from (
      select e.place, e.workspace_id, e.key_id, e.rotation, e.member_id, coalesce(sum(e.charge), 0)::bigint as charge,
        sum(e.bound)::bigint as bound, sum(case when e.charge is null then 0 else least(e.charge, e.bound) end)::bigint as draw
      from e group by 1, 2, 3, 4, 5
    ) b
    left join lateral ledger_allowance(b.workspace_id, b.key_id, b.rotation, p_gateway) a on true
  ),
  account as materialized (
    select b.workspace_id, b.charge, b.drawn, a.credits_nano, a.charged_nano, a.at_row
    from (select x.workspace_id, sum(x.charge)::bigint as charge, sum(x.drawn)::bigint as drawn from by_key x group by 1) b
    cross join lateral (select y.*, y.ctid as at_row from ledger_accounts y where y.workspace_id = b.workspace_id offset 0) a
  ),
  written as (
    insert into ledger_entries (workspace_id, reference, kind, amount_nano, held_nano, balance_after_nano, key_id, member_id, created_at)
    select e.workspace_id, e.id, case when e.charge is null then p_void else 'charge' end, coalesce(e.charge, 0), e.bound,
      a.credits_nano - a.charged_nano - coalesce(sum(e.charge) over (partition by e.workspace_id order by e.ord), 0),
      e.key_id, b.member_id, p_now
    from e join by_key b on b.place = e.place join account a on a.workspace_id = e.workspace_id
    order by e.ord
  ),
  drawn as (
    update ledger_allowances a set amount_nano = a.amount_nano - b.drawn,
      idle_nano = least(a.idle_nano + b.freed, a.amount_nano - b.drawn)
    from by_key b
    where b.drawn + b.freed > 0 and a.ctid = b.at_row
  ),
  counted as (
    update ledger_accounts a set charged_nano = a.charged_nano + b.charge, held_nano = a.held_nano - b.drawn,
      month_nano = b.charge + ledger_since(v_month, a.last_day, a.month_nano),
      week_nano = b.charge + ledger_since(v_week, a.last_day, a.week_nano),
      day_nano = b.charge + ledger_since(v_day, a.last_day, a.day_nano), last_day = greatest(a.last_day, v_day)
    from account b
    where b.charge > 0 and a.ctid = b.at_row
  )
  insert into ledger_spend as s (workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day)
  select b.workspace_id, x.scope, x.scope_id, sum(b.charge)::bigint, sum(b.charge)::bigint, sum(b.charge)::bigint, sum(b.charge)::bigint, v_day
  from by_key b cross join lateral (values ('member', b.member_id), ('key', b.key_id)) x (scope, scope_id)
  where x.scope_id is not null and b.charge > 0
  group by 1, 2, 3
  on conflict (workspace_id, scope, scope_id) do update set
    total_nano = s.total_nano + excluded.total_nano,
    month_nano = excluded.month_nano + ledger_since(v_month, s.last_day, s.month_nano),
    week_nano = excluded.week_nano + ledger_since(v_week, s.last_day, s.week_nano),
    day_nano = excluded.day_nano + ledger_since(v_day, s.last_day, s.day_nano), last_day = greatest(s.last_day, excluded.last_day);
end $$;

-- Rule 3, allowances: brings what a gateway has set aside for each key to need + keep, and to headroom beyond it while 32 times keep
-- and headroom are left. A key that is refused, or whose target does not fit, keeps what its running calls use, and nothing for those
-- that wait: others may have it at once. The accounts are locked.
-- Answers with the places of those that were not let in (unfit). p_restore asks nobody: the calls run.
--   k_needs  what calls use and wait for; null: nothing is set
--   k_uses   of the need and the keep, what stays in use whatever is decided
--   k_keeps  what may be given to calls while the batch is on its way
--   k_places what they are in the batch; null: the first, the second and so on
create or replace function ledger_set_allowances(
  p_gateway text, p_now timestamptz, p_restore boolean, k_workspaces text[], k_keys text[], k_rotations integer[],
  k_needs bigint[], k_uses bigint[], k_keeps bigint[], k_headrooms bigint[], k_places integer[],
  out unfit integer[]
) language plpgsql as $$
begin
  with t as (
    select x.*, sum(x.delta) over w as w_delta, sum(x.delta) over m as m_delta, sum(x.delta) over q as k_delta,
      sum(x.keep + x.headroom) over w as w_headroom
    from (
      select coalesce(k.place, k.ord::integer) as place, k.workspace_id, k.key_id, k.rotation, k.use, k.keep, k.need + k.keep as target, k.headroom,
        r.member_id, r.refusal, r.w_room, r.m_room, r.k_room, r.left_soft,
        a.at_row, coalesce(a.amount_nano, 0) as cur, coalesce(a.idle_nano, 0) as cur_idle, a.member_id as cur_member,
        case when r.refusal is null then k.need + k.keep - coalesce(a.amount_nano, 0)
          else least(k.use - coalesce(a.amount_nano, 0), 0) end as delta
      from unnest(k_workspaces, k_keys, k_rotations, k_needs, k_uses, k_keeps, k_headrooms, k_places)
        with ordinality as k (workspace_id, key_id, rotation, need, use, keep, headroom, place, ord)
      cross join lateral ledger_admit(k.workspace_id, k.key_id, k.rotation, p_now) r
      left join lateral ledger_allowance(k.workspace_id, k.key_id, k.rotation, p_gateway) a on true
      where k.need is not null
    ) x
    window w as (partition by x.workspace_id), m as (partition by x.workspace_id, x.member_id), q as (partition by x.workspace_id, x.key_id)
  ),
  n as materialized (
    select t.*, f.fits,
      case when not f.fits then least(t.cur, t.use) when h.roomy then t.target + t.headroom else t.target end as new,
      case when not f.fits then least(t.keep, t.cur, t.use) when h.roomy then t.keep + t.headroom else t.keep end as new_idle
    from t
    cross join lateral (select p_restore or t.refusal is null
      and coalesce(least(t.w_room - t.w_delta, t.m_room - t.m_delta, t.k_room - t.k_delta), 0) >= 0 as fits) f
    cross join lateral (select t.headroom > 0 and t.refusal is null and 32 * t.w_headroom + greatest(t.w_delta, t.m_delta, t.k_delta)
      <= coalesce(least(t.w_room, t.m_room, t.k_room, t.left_soft), 9000000000000000000) as roomy) h
  ),
  changed as (
    update ledger_allowances a set amount_nano = n.new, idle_nano = n.new_idle, member_id = coalesce(n.member_id, a.member_id)
    from n
    where a.ctid = n.at_row
      and (n.new <> n.cur or n.new_idle <> n.cur_idle or n.member_id is not null and n.member_id is distinct from n.cur_member)
  ),
  opened as (
    insert into ledger_allowances (workspace_id, key_id, rotation, gateway, member_id, amount_nano, idle_nano)
    select n.workspace_id, n.key_id, n.rotation, p_gateway, n.member_id, n.new, n.new_idle from n where n.at_row is null and n.new > 0
  ),
  account as (
    update ledger_accounts a set held_nano = a.held_nano + b.more
    from (select n.workspace_id, sum(n.new - n.cur)::bigint as more from n group by 1) b
    cross join lateral (select y.ctid as at_row from ledger_accounts y where y.workspace_id = b.workspace_id offset 0) y
    where b.more <> 0 and a.ctid = y.at_row
  )
  select coalesce(array_agg(n.place) filter (where not n.fits), '{}') into unfit from n;
end $$;

-- What is set aside in a workspace and not in use.
create or replace function ledger_idle(p_workspace text) returns bigint language sql stable as $$
  select coalesce(sum(a.idle_nano), 0)::bigint from ledger_allowances a where a.workspace_id = p_workspace
$$;

-- Rule 4, the batch of a lane. Answers with a row for each key: its allowance, and where its calls were not let in also why: `refusal`,
-- or (null) what `available` and `rooms` say, with the `caps`, what others have set aside and do not use (`idle`), and the time.
-- No row: a later sending of the lane was here first, and this one did nothing. One row of place 0: the lane had lapsed, or is new;
-- entries were written, allowances not set. The next batch must restore: tell what the running calls of all its keys use.
--   p_skip_locked  does not wait for accounts that others have locked: their keys are answered 'busy', and nothing of them is done
--   k_needs ...    as in ledger_set_allowances; e_* as in ledger_write
create or replace function ledger_batch(
  p_gateway text, p_lane integer, p_number bigint, p_lease_ms integer, p_restore boolean, p_skip_locked boolean,
  k_workspaces text[], k_keys text[], k_rotations integer[], k_needs bigint[], k_uses bigint[], k_keeps bigint[], k_headrooms bigint[],
  e_places integer[], e_ids text[], e_charges bigint[], e_bounds bigint[]
) returns table (place integer, allowance bigint, refusal text, available bigint, rooms bigint[], caps bigint[], idle bigint, at timestamptz)
language plpgsql
-- Plans must not depend on how full the tables were when a connection first came by.
set plan_cache_mode = force_generic_plan set enable_seqscan = off set lock_timeout = '200ms' as $$
declare
  v_now timestamptz;
  v_lapsed boolean;
  v_locked text[];
  v_busy integer[] := '{}';
  v_unfit integer[] := '{}';
  i integer;
begin
  insert into ledger_lanes as l (gateway, lane, number, lease_until, lapsed)
  values (p_gateway, p_lane, p_number, ledger_now() + p_lease_ms * interval '1 ms', not p_restore)
  on conflict (gateway, lane) do update set number = p_number, lapsed = l.lapsed and not p_restore,
    lease_until = ledger_now() + p_lease_ms * interval '1 ms' -- read again: the row may have been waited for
  where l.number < p_number
  returning l.lapsed into v_lapsed;
  if not found then
    return;
  end if;
  if p_skip_locked then
    v_locked := array(select x.workspace_id from (
      select a.workspace_id from ledger_accounts a where a.workspace_id = any(k_workspaces) order by a.workspace_id for update skip locked) x);
    -- An unknown workspace has no account, and is refused below.
    v_busy := array(select k.place from unnest(k_workspaces) with ordinality as k (workspace_id, place)
      where k.workspace_id <> all(v_locked) and exists (select 1 from ledger_accounts a where a.workspace_id = k.workspace_id));
    foreach i in array v_busy loop
      if k_needs is not null then
        k_needs[i] := null;
      end if;
      e_places := array_replace(e_places, i, 0);
    end loop;
  else
    perform 1 from ledger_accounts a where a.workspace_id = any(k_workspaces) order by a.workspace_id for update;
  end if;
  v_now := ledger_now();
  perform ledger_write(p_gateway, v_now, 'void', k_workspaces, k_keys, k_rotations, null, e_places, e_ids, e_charges, e_bounds)
  where cardinality(e_ids) > 0;
  if v_lapsed then
    return query select 0, null::bigint, 'lapsed', null::bigint, null::bigint[], null::bigint[], null::bigint, v_now;
  elsif k_needs is not null then
    v_unfit := ledger_set_allowances(p_gateway, v_now, p_restore, k_workspaces, k_keys, k_rotations, k_needs, k_uses, k_keeps, k_headrooms, null);
    -- Not all of a workspace fits: one key after another.
    foreach i in array case when cardinality(v_unfit) > 1 then v_unfit else '{}' end loop
      v_unfit := array_remove(v_unfit, i) || ledger_set_allowances(p_gateway, v_now, false, k_workspaces[i:i], k_keys[i:i], k_rotations[i:i],
        k_needs[i:i], k_uses[i:i], k_keeps[i:i], k_headrooms[i:i], array[i]);
    end loop;
  end if;
  return query
    select k.place::integer, coalesce(a.amount_nano, 0), case when k.place = any (v_busy) then 'busy' end,
      null::bigint, null::bigint[], null::bigint[], null::bigint, null::timestamptz
    from unnest(k_workspaces, k_keys, k_rotations) with ordinality as k (workspace_id, key_id, rotation, place)
    left join lateral ledger_allowance(k.workspace_id, k.key_id, k.rotation, p_gateway) a on true
    where k.place <> all (v_unfit);
  if cardinality(v_unfit) > 0 then
    return query
      select k.place::integer, coalesce(a.amount_nano, 0), r.refusal, r.available, r.rooms, r.caps,
        ledger_idle(k.workspace_id) - coalesce(a.idle_nano, 0), v_now
      from unnest(k_workspaces, k_keys, k_rotations) with ordinality as k (workspace_id, key_id, rotation, place)
      cross join lateral ledger_admit(k.workspace_id, k.key_id, k.rotation, v_now) r
      left join lateral ledger_allowance(k.workspace_id, k.key_id, k.rotation, p_gateway) a on true
      where k.place = any (v_unfit);
  end if;
end $$;

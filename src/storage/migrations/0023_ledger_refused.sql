-- What a key that is refused has set aside goes back with the refusal. It stayed until the next batch of the key, and as long as refused
-- calls kept coming, while others were told that there was nothing left. Rules 3 and 4 take the place of those in 0022_ledger_rules.sql.

drop function ledger_batch(text, integer, bigint, integer, boolean, boolean, text[], text[], integer[], bigint[], bigint[], bigint[],
  integer[], text[], bigint[], bigint[]);
drop function ledger_set_allowances(text, timestamptz, boolean, text[], text[], integer[], bigint[], bigint[], bigint[], integer[]);

-- Rule 3, allowances: brings what a gateway has set aside for each key to need + keep, and to headroom beyond it while 32 times that
-- is left. A key that is refused, or whose target does not fit, keeps what its running calls use, and nothing for those that wait:
-- others may have it at once. The accounts are locked.
-- Answers with the places of those that were not let in. p_restore asks nobody: the calls run.
--   k_needs  what calls use and wait for; null: nothing is set
--   k_uses   of the need and the keep, what stays in use whatever is decided
--   k_keeps  what may be given to calls while the batch is on its way
create function ledger_set_allowances(
  p_gateway text, p_now timestamptz, p_restore boolean, k_workspaces text[], k_keys text[], k_rotations integer[],
  k_needs bigint[], k_uses bigint[], k_keeps bigint[], k_headrooms bigint[], k_places integer[]
) returns integer[] language plpgsql as $$
declare
  v_unfit integer[];
begin
  with t as materialized (
    select x.*, sum(x.delta) over w as w_delta, sum(x.delta) over m as m_delta, sum(x.delta) over q as k_delta,
      sum(x.headroom) over w as w_headroom
    from (
      select k.place, k.workspace_id, k.key_id, k.rotation, k.use, k.keep, k.need + k.keep as target, k.headroom,
        r.member_id, r.refusal, r.w_room, r.m_room, r.k_room, r.left_soft,
        a.at_row, coalesce(a.amount_nano, 0) as cur, coalesce(a.idle_nano, 0) as cur_idle, a.member_id as cur_member,
        case when r.refusal is null then k.need + k.keep - coalesce(a.amount_nano, 0)
          else least(k.use - coalesce(a.amount_nano, 0), 0) end as delta
      from unnest(k_workspaces, k_keys, k_rotations, k_needs, k_uses, k_keeps, k_headrooms, k_places)
        as k (workspace_id, key_id, rotation, need, use, keep, headroom, place)
      cross join lateral ledger_admit(k.workspace_id, k.key_id, k.rotation, p_now) r
      left join lateral (
        select y.*, y.ctid as at_row from ledger_allowances y
        where y.workspace_id = k.workspace_id and y.key_id = k.key_id and y.rotation = k.rotation and y.gateway = p_gateway offset 0
      ) a on true
      where k.need is not null
    ) x
    window w as (partition by x.workspace_id), m as (partition by x.workspace_id, x.member_id), q as (partition by x.workspace_id, x.key_id)
  ),
  n as materialized (
    select t.*, f.fits,
      case when not f.fits then least(t.cur, t.use) when h.roomy then t.target + t.headroom else t.target end as new,
      case when not f.fits then least(t.keep, t.cur, t.use) when h.roomy then t.keep + t.headroom else t.keep end as new_idle
    from t
    cross join lateral (select p_restore or t.refusal is null and t.w_delta <= coalesce(t.w_room, t.w_delta)
      and t.m_delta <= coalesce(t.m_room, t.m_delta) and t.k_delta <= coalesce(t.k_room, t.k_delta) as fits) f
    cross join lateral (select t.headroom > 0 and t.refusal is null
      and 32 * t.w_headroom + greatest(t.w_delta, t.m_delta, t.k_delta) <= coalesce(least(t.w_room, t.m_room, t.k_room, t.left_soft), 9000000000000000000) as roomy) h
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
  select array_agg(n.place order by n.place) filter (where not n.fits) into v_unfit from n;
  return coalesce(v_unfit, '{}');
end $$;

-- Rule 4, the batch of a lane. Answers with a row for each key: its allowance, and where its calls were not let in also why: `refusal`,
-- or (null) what `available` and `rooms` say, with the `caps`, what others have set aside and do not use (`idle`), and the time.
-- No row: a later sending of the lane was here first, and this one did nothing. One row of place 0: the lane had lapsed, or is new;
-- entries were written, allowances not set. The next batch must restore: tell what the running calls of all its keys use.
--   p_skip_locked  does not wait for accounts that others have locked: their keys are answered 'busy', and nothing of them is done
--   k_needs ...    as in ledger_set_allowances; e_* as in ledger_write
create function ledger_batch(
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
  v_still integer[] := '{}';
  i integer;
begin
  update ledger_lanes l set number = p_number, lease_until = ledger_now() + p_lease_ms * interval '1 ms', lapsed = l.lapsed and not p_restore
  where l.gateway = p_gateway and l.lane = p_lane and l.number < p_number
  returning l.lapsed into v_lapsed;
  if not found then
    insert into ledger_lanes (gateway, lane, number, lease_until, lapsed)
    values (p_gateway, p_lane, p_number, ledger_now() + p_lease_ms * interval '1 ms', not p_restore) on conflict do nothing;
    if not found then
      return;
    end if;
    v_lapsed := not p_restore;
  end if;
  if p_skip_locked then
    v_locked := array(select x.workspace_id from (
      select a.workspace_id from ledger_accounts a where a.workspace_id = any(k_workspaces) order by a.workspace_id for update skip locked) x);
    for i in 1 .. coalesce(cardinality(k_workspaces), 0) loop
      -- An unknown workspace has no account, and is refused below.
      if k_workspaces[i] <> all(v_locked) and exists (select 1 from ledger_accounts a where a.workspace_id = k_workspaces[i]) then
        v_busy := v_busy || i;
        if k_needs is not null then
          k_needs[i] := null;
        end if;
        e_places := array_replace(e_places, i, 0);
      end if;
    end loop;
  else
    perform 1 from ledger_accounts a where a.workspace_id = any(k_workspaces) order by a.workspace_id for update;
  end if;
  v_now := ledger_now();
  if cardinality(e_ids) > 0 then
    perform ledger_write(p_gateway, v_now, 'void', k_workspaces, k_keys, k_rotations, null, e_places, e_ids, e_charges, e_bounds);
  end if;
  if v_lapsed then
    return query select 0, null::bigint, 'lapsed', null::bigint, null::bigint[], null::bigint[], null::bigint, v_now;
  elsif k_needs is not null then
    v_unfit := ledger_set_allowances(p_gateway, v_now, p_restore, k_workspaces, k_keys, k_rotations, k_needs, k_uses, k_keeps, k_headrooms,
      array(select generate_series(1, cardinality(k_keys))));
    if cardinality(v_unfit) > 1 then
      -- Not all of a workspace fits: one key after another.
      foreach i in array v_unfit loop
        v_still := v_still || ledger_set_allowances(p_gateway, v_now, false, k_workspaces[i:i], k_keys[i:i], k_rotations[i:i],
          k_needs[i:i], k_uses[i:i], k_keeps[i:i], k_headrooms[i:i], array[i]);
      end loop;
    else
      v_still := v_unfit;
    end if;
  end if;
  return query
    select k.place::integer, coalesce(a.amount_nano, 0), case when k.place = any (v_busy) then 'busy' end,
      null::bigint, null::bigint[], null::bigint[], null::bigint, null::timestamptz
    from unnest(k_workspaces, k_keys, k_rotations) with ordinality as k (workspace_id, key_id, rotation, place)
    left join lateral (
      select y.*, y.ctid as at_row from ledger_allowances y
      where y.workspace_id = k.workspace_id and y.key_id = k.key_id and y.rotation = k.rotation and y.gateway = p_gateway offset 0
    ) a on true
    where k.place <> all (v_still);
  if cardinality(v_still) > 0 then
    return query
      select k.place::integer, coalesce(a.amount_nano, 0), r.refusal, r.available, r.rooms, r.caps,
        ledger_idle(k.workspace_id) - coalesce(a.idle_nano, 0), v_now
      from unnest(k_workspaces, k_keys, k_rotations) with ordinality as k (workspace_id, key_id, rotation, place)
      cross join lateral ledger_admit(k.workspace_id, k.key_id, k.rotation, v_now) r
      left join lateral (
      select y.*, y.ctid as at_row from ledger_allowances y
      where y.workspace_id = k.workspace_id and y.key_id = k.key_id and y.rotation = k.rotation and y.gateway = p_gateway offset 0
    ) a on true
      where k.place = any (v_still);
  end if;
end $$;

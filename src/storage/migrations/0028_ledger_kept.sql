-- What a key keeps while a batch is on its way counts as headroom. It did not: a key whose calls use little of their bounds kept what it
-- had without being asked about, and its calls were let in from memory beyond a soft cap for up to 50 ms. Rule 3 takes the place of
-- that in 0023_ledger_refused.sql.

-- Rule 3, allowances: brings what a gateway has set aside for each key to need + keep, and to headroom beyond it while 32 times keep
-- and headroom are left. A key that is refused, or whose target does not fit, keeps what its running calls use, and nothing for those that wait:
-- others may have it at once. The accounts are locked.
-- Answers with the places of those that were not let in. p_restore asks nobody: the calls run.
--   k_needs  what calls use and wait for; null: nothing is set
--   k_uses   of the need and the keep, what stays in use whatever is decided
--   k_keeps  what may be given to calls while the batch is on its way
create or replace function ledger_set_allowances(
  p_gateway text, p_now timestamptz, p_restore boolean, k_workspaces text[], k_keys text[], k_rotations integer[],
  k_needs bigint[], k_uses bigint[], k_keeps bigint[], k_headrooms bigint[], k_places integer[]
) returns integer[] language plpgsql as $$
declare
  v_unfit integer[];
begin
  with t as materialized (
    select x.*, sum(x.delta) over w as w_delta, sum(x.delta) over m as m_delta, sum(x.delta) over q as k_delta,
      sum(x.keep + x.headroom) over w as w_headroom
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

-- The ledger's rule 1, admission: whether a key may set something aside now, and how much. docs/ledger.md.

-- One cap: how much more may be set aside under it; null without limit. A cap whose amount is spent lets nothing more in, however
-- little is asked. Only a hard cap counts what is held, and may be below zero: it was lowered.
create function ledger_room(p_cap bigint, p_hard boolean, p_spent bigint, p_held bigint) returns bigint language sql immutable as $$
  select case when p_spent >= p_cap then -9000000000000000000 when p_hard then p_cap - p_spent - p_held end
$$;

-- What may be set aside for a key now: one row always. The planner takes it into its caller's query.
--   refusal    why the key or its workspace may not call at all; null where they may
--   available  what the balance leaves
--   *_room     what balance and caps leave by layer, w (with the balance), m and k; may be below zero; null: without limit
--   left_soft  what soft caps leave to be spent: they let calls in that they do not hold for, so that headroom is given only while
--              it is far off
--   rooms      the same for each cap, with its amount in `caps`: layer (workspace, member, key) by window (total, month, week, day)
-- In force as 0052_ledger_charges_max.sql makes it.
create function ledger_admit(p_workspace text, p_key text, p_rotation integer, p_now timestamptz)
returns table (member_id text, refusal text, available bigint, w_room bigint, m_room bigint, k_room bigint, left_soft bigint,
  rooms bigint[], caps bigint[])
language sql stable as $$
  select x.created_by,
    case
      when x.status is null or x.w_status is null or x.account is null then 'key_unknown'
      when x.status = 'revoked' then 'key_revoked'
      when x.status = 'disabled' then 'key_disabled'
      when x.expires_at <= p_now then 'key_expired'
      when x.rotations > p_rotation and not (x.rotations = p_rotation + 1 and x.previous_expires_at > p_now) then 'key_unknown'
      when x.w_status <> 'active' then 'workspace_disabled'
    end,
    x.available,
    least(x.available, x.w1, x.w2, x.w3, x.w4),
    least(x.m1, x.m2, x.m3, x.m4),
    least(x.k1, x.k2, x.k3, x.k4),
    least(case when not x.w_hard then least(x.caps[1] - x.ws1, x.caps[2] - x.ws2, x.caps[3] - x.ws3, x.caps[4] - x.ws4) end,
      case when not x.m_hard then least(x.caps[5] - x.ms1, x.caps[6] - x.ms2, x.caps[7] - x.ms3, x.caps[8] - x.ms4) end,
      case when not x.k_hard then least(x.caps[9] - x.ks1, x.caps[10] - x.ks2, x.caps[11] - x.ks3, x.caps[12] - x.ks4) end),
    array[x.w1, x.w2, x.w3, x.w4, x.m1, x.m2, x.m3, x.m4, x.k1, x.k2, x.k3, x.k4],
    x.caps
  from (
    select y.*,
      ledger_room(y.caps[1], y.w_hard, y.ws1, y.w_held) as w1, ledger_room(y.caps[2], y.w_hard, y.ws2, y.w_held) as w2,
      ledger_room(y.caps[3], y.w_hard, y.ws3, y.w_held) as w3, ledger_room(y.caps[4], y.w_hard, y.ws4, y.w_held) as w4,
      ledger_room(y.caps[5], y.m_hard, y.ms1, y.m_held) as m1, ledger_room(y.caps[6], y.m_hard, y.ms2, y.m_held) as m2,
      ledger_room(y.caps[7], y.m_hard, y.ms3, y.m_held) as m3, ledger_room(y.caps[8], y.m_hard, y.ms4, y.m_held) as m4,
      ledger_room(y.caps[9], y.k_hard, y.ks1, y.k_held) as k1, ledger_room(y.caps[10], y.k_hard, y.ks2, y.k_held) as k2,
      ledger_room(y.caps[11], y.k_hard, y.ks3, y.k_held) as k3, ledger_room(y.caps[12], y.k_hard, y.ks4, y.k_held) as k4
    from (
      select k.created_by, k.status, k.expires_at, k.rotations, k.previous_expires_at, w.status as w_status, a.workspace_id as account,
        a.credits_nano + w.credit_line_nano - a.charged_nano - a.held_nano as available,
        a.held_nano as w_held, mh.held as m_held, kh.held as k_held, w.cap_hard as w_hard, m.cap_hard as m_hard, k.cap_hard as k_hard,
        a.charged_nano as ws1, case when a.last_day >= d.month then a.month_nano else 0 end as ws2,
        case when a.last_day >= d.week then a.week_nano else 0 end as ws3, case when a.last_day >= d.day then a.day_nano else 0 end as ws4,
        coalesce(ms.total_nano, 0) as ms1, case when ms.last_day >= d.month then ms.month_nano else 0 end as ms2,
        case when ms.last_day >= d.week then ms.week_nano else 0 end as ms3, case when ms.last_day >= d.day then ms.day_nano else 0 end as ms4,
        coalesce(ks.total_nano, 0) as ks1, case when ks.last_day >= d.month then ks.month_nano else 0 end as ks2,
        case when ks.last_day >= d.week then ks.week_nano else 0 end as ks3, case when ks.last_day >= d.day then ks.day_nano else 0 end as ks4,
        array[w.cap_total_nano, w.cap_monthly_nano, w.cap_weekly_nano, w.cap_daily_nano,
          m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano,
          k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano] as caps
      from (select (p_now at time zone 'utc')::date as day, date_trunc('week', p_now at time zone 'utc')::date as week,
        date_trunc('month', p_now at time zone 'utc')::date as month) d
      left join ledger_accounts a on a.workspace_id = p_workspace
      left join workspaces w on w.id = p_workspace
      left join api_keys k on k.workspace_id = p_workspace and k.id = p_key
      -- offset 0: found by the whole key, whatever the tables look like; and worked out once, not at each of its uses
      left join lateral (select * from members y where y.workspace_id = p_workspace and y.user_id = k.created_by offset 0) m on true
      left join lateral (
        select * from ledger_spend y where num_nonnulls(m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano) > 0
          and y.workspace_id = p_workspace and y.scope = 'member' and y.scope_id = k.created_by offset 0
      ) ms on true
      left join lateral (
        select * from ledger_spend y where num_nonnulls(k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano) > 0
          and y.workspace_id = p_workspace and y.scope = 'key' and y.scope_id = p_key offset 0
      ) ks on true
      left join lateral (
        select ((select coalesce(sum(y.amount_nano), 0) from ledger_allowances y where y.workspace_id = p_workspace and y.member_id = m.user_id)
          + (select coalesce(sum(y.amount_nano), 0) from ledger_holds y where y.workspace_id = p_workspace and y.member_id = m.user_id))::bigint as held
        where m.cap_hard offset 0
      ) mh on true
      left join lateral (
        select ((select coalesce(sum(y.amount_nano), 0) from ledger_allowances y where y.workspace_id = p_workspace and y.key_id = p_key)
          + (select coalesce(sum(y.amount_nano), 0) from ledger_holds y where y.workspace_id = p_workspace and y.key_id = p_key))::bigint as held
        where k.cap_hard offset 0
      ) kh on true
      offset 0
    ) y
    offset 0
  ) x
$$;

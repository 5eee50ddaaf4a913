-- The ledger's rule 1, admission: whether a key may set something aside now, and how much. docs/ledger.md. One cap is in
-- baseline/06_ledger_admission.sql. As 0052_ledger_charges_max.sql had it, but each layer passes up only what is asked of it: a plan
-- is set up for every batch, and that costs as many columns as go through each of its steps.

-- What a counter says of a period that begins on p_start; p_last: the day of its latest charge.
create or replace function ledger_since(p_start date, p_last date, p_nano bigint) returns bigint language sql immutable as $$
  select case when p_last >= p_start then p_nano else 0 end
$$;

-- The caps of a layer, by what was spent (s_*) until the day s_last and what is held. The planner takes it, and the next two, into its
-- caller's query; offset 0: worked out once, not at each of its uses.
--   room   what the tightest leaves, may be below zero; null: without limit. rooms: each, total, month, week, day
--   soft   the same of caps that are not hard
create or replace function ledger_layer(
  p_day date, p_week date, p_month date, p_hard boolean, p_held bigint, c_total bigint, c_month bigint, c_week bigint, c_day bigint,
  s_last date, s_total bigint, s_month bigint, s_week bigint, s_day bigint
) returns table (room bigint, soft bigint, rooms bigint[], caps bigint[]) language sql stable as $$
  select least(r.total, r.month, r.week, r.day),
    case when not p_hard then least(c_total - r.s_total, c_month - r.s_month, c_week - r.s_week, c_day - r.s_day) end,
    array[r.total, r.month, r.week, r.day], array[c_total, c_month, c_week, c_day]
  from (
    select s.*, ledger_room(c_total, p_hard, s.s_total, p_held) as total, ledger_room(c_month, p_hard, s.s_month, p_held) as month,
      ledger_room(c_week, p_hard, s.s_week, p_held) as week, ledger_room(c_day, p_hard, s.s_day, p_held) as day
    from (
      select coalesce(s_total, 0) as s_total, ledger_since(p_month, s_last, s_month) as s_month, ledger_since(p_week, s_last, s_week) as s_week,
        ledger_since(p_day, s_last, s_day) as s_day offset 0
    ) s
  ) r
$$;

-- The layer of a key or member (p_scope): only a hard cap adds up what is held, and where there is no cap nobody looks what was spent.
create or replace function ledger_spender(
  p_workspace text, p_scope text, p_id text, p_day date, p_week date, p_month date, p_hard boolean,
  c_total bigint, c_month bigint, c_week bigint, c_day bigint
) returns table (room bigint, soft bigint, rooms bigint[], caps bigint[]) language sql stable as $$
  select l.* from (
    select case when p_hard then (select coalesce(sum(y.amount_nano), 0)::bigint from (
      select workspace_id, key_id, member_id, amount_nano from ledger_allowances
      union all select workspace_id, key_id, member_id, amount_nano from ledger_holds) y
    where y.workspace_id = p_workspace and case p_scope when 'key' then y.key_id else y.member_id end = p_id) end as held offset 0
  ) h
  left join lateral (
    select * from ledger_spend y where num_nonnulls(c_total, c_month, c_week, c_day) > 0
      and y.workspace_id = p_workspace and y.scope = p_scope and y.scope_id = p_id offset 0
  ) s on true
  cross join lateral ledger_layer(p_day, p_week, p_month, p_hard, h.held, c_total, c_month, c_week, c_day,
    s.last_day, s.total_nano, s.month_nano, s.week_nano, s.day_nano) l
$$;

-- What may be set aside for a key now: one row always.
--   refusal    why the key or its workspace may not call at all; null where they may
--   available  what the balance leaves; without limit, what is left of the most that may be charged
--   *_room     what balance and caps leave by layer, w (with the balance), m and k; may be below zero; null: without limit
--   left_soft  what soft caps leave to be spent: they let calls in that they do not hold for, so that headroom is given only while
--              it is far off
--   rooms      the same for each cap, with its amount in `caps`: layer (workspace, member, key) by window (total, month, week, day)
create or replace function ledger_admit(p_workspace text, p_key text, p_rotation integer, p_now timestamptz)
returns table (member_id text, refusal text, available bigint, w_room bigint, m_room bigint, k_room bigint, left_soft bigint,
  rooms bigint[], caps bigint[])
language sql stable as $$
  select k.created_by,
    case
      when k.status is null or w.status is null then 'key_unknown'
      when k.status = 'revoked' then 'key_revoked'
      when k.status = 'disabled' then 'key_disabled'
      when k.expires_at <= p_now then 'key_expired'
      when k.rotations > p_rotation and not (k.rotations = p_rotation + 1 and k.previous_expires_at > p_now) then 'key_unknown'
      when w.status <> 'active' then 'workspace_disabled'
    end,
    w.available, least(w.available, w.room), m.room, k.room, least(w.soft, m.soft, k.soft),
    w.rooms || coalesce(m.rooms, array_fill(null::bigint, array[4])) || k.rooms, w.caps || coalesce(m.caps, array_fill(null::bigint, array[4])) || k.caps
  from (select (p_now at time zone 'utc')::date as day, date_trunc('week', p_now at time zone 'utc')::date as week,
    date_trunc('month', p_now at time zone 'utc')::date as month offset 0) d
  left join lateral (
    select x.status, coalesce(a.credits_nano + x.credit_line_nano, ledger_charges_max()) - a.charged_nano - a.held_nano as available, l.*
    from ledger_accounts a join workspaces x on x.id = p_workspace
    cross join lateral ledger_layer(d.day, d.week, d.month, x.cap_hard, a.held_nano, x.cap_total_nano, x.cap_monthly_nano, x.cap_weekly_nano,
      x.cap_daily_nano, a.last_day, a.charged_nano, a.month_nano, a.week_nano, a.day_nano) l
    where a.workspace_id = p_workspace offset 0
  ) w on true
  left join lateral (
    select x.created_by, x.status, x.expires_at, x.rotations, x.previous_expires_at, l.*
    from api_keys x cross join lateral ledger_spender(p_workspace, 'key', p_key, d.day, d.week, d.month, x.cap_hard,
      x.cap_total_nano, x.cap_monthly_nano, x.cap_weekly_nano, x.cap_daily_nano) l
    where x.workspace_id = p_workspace and x.id = p_key offset 0
  ) k on true
  left join lateral (
    select l.* from members x cross join lateral ledger_spender(p_workspace, 'member', k.created_by, d.day, d.week, d.month, x.cap_hard,
      x.cap_total_nano, x.cap_monthly_nano, x.cap_weekly_nano, x.cap_daily_nano) l
    -- Written as a range, for which the index of all that a person is a member of cannot be used: that may be thousands.
    where (x.workspace_id, x.user_id) between (p_workspace, k.created_by) and (p_workspace, k.created_by) offset 0
  ) m on true
  offset 0
$$;

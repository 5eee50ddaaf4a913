-- The ledger: one admission rule, one counting rule, allowances set absolutely, batches with a fence, the database's clock.
-- docs/ledger.md tells how it works. What earlier migrations made is dropped or changed here; rules 2 to 6 are in 0022_ledger_rules.sql.
--
-- Carried over: accounts, counters and entries as they are (the entries are not touched), and all open holds.
-- * Holds of images and tasks stay rows of ledger_holds.
-- * Text calls that were open when the earlier version stopped: nobody runs them any more. Their rows (one for a call, or one for
--   the calls of a gateway on a key) stay too, with their leases of a minute at most: when a lease runs out the sweeper writes one
--   `expire` entry and gives the money back, which is what the earlier version promised for a gateway that died. A gateway
--   of the earlier version that still runs can neither charge nor reserve any more: its statements are gone.

lock table ledger_accounts, ledger_holds, ledger_spend in access exclusive mode;

drop function ledger_pool_turn(timestamptz, text, text, integer, text, text[], bigint[], bigint[], bigint[], bigint, bigint, boolean,
  bigint, integer, bigint, bigint);
drop function ledger_pooled(timestamptz, text[], text[], bigint[], bigint[], integer[], text[], integer[], bigint[], bigint[], bigint[],
  text[], text[], integer[], text[], boolean[], bigint[], bigint[], integer[], bigint[], bigint);
drop function ledger_raised(text[], text[], bigint);
drop function ledger_settled(text[], text[]);
drop function ledger_expire_calls(text[], text[], text[], timestamptz);
drop function ledger_caps_fit(text, text, text, bigint, date);
drop function ledger_reserve_queued(text, text, text, bigint, bigint, text, timestamptz, integer, integer, integer);
drop function ledger_reserve(text[], text[], text[], bigint[], bigint[], text[], timestamptz);
drop function ledger_keys_in_force(text[], text[], integer[], timestamptz);
drop function ledger_charge_expired(text, text, bigint, timestamptz);
drop function ledger_expire(timestamptz, integer);
drop function ledger_extend(text[], text[], bigint[], timestamptz);
drop function ledger_resolve(text[], text[], bigint[], text, timestamptz);
drop function ledger_credit(text, bigint, text, text, timestamptz);
drop function ledger_cap(bigint[], bigint[], bigint);
drop function ledger_spent(ledger_spend, date);
drop function ledger_lock(text[]);

-- What a scope has spent in the month, week and day (UTC; a week begins on Monday) of its latest charge, `last_day`.
alter table ledger_spend add column last_day date not null default '-infinity';
update ledger_spend set last_day = day_start;
alter table ledger_spend alter column last_day drop default,
  drop column month_start, drop column week_start, drop column day_start;

-- How far a workspace may spend beyond its credits, null: without limit. For workspaces that are not prepaid.
alter table workspaces add column credit_line_nano bigint default 0 check (credit_line_nano >= 0);

-- One row a workspace: the lock of all that is below, its money, and its own counters (its total is charged_nano).
alter table ledger_accounts
  add column month_nano bigint not null default 0,
  add column week_nano bigint not null default 0,
  add column day_nano bigint not null default 0,
  add column last_day date not null default '-infinity',
  add constraint ledger_accounts_credits_nano_check check (credits_nano >= 0),
  add constraint ledger_accounts_charged_nano_check check (charged_nano >= 0);
update ledger_accounts a set month_nano = s.month_nano, week_nano = s.week_nano, day_nano = s.day_nano, last_day = s.last_day
from ledger_spend s where s.workspace_id = a.workspace_id and s.scope = 'workspace';
delete from ledger_spend where scope = 'workspace';
alter table ledger_spend drop constraint ledger_spend_scope_check;
alter table ledger_spend add constraint ledger_spend_scope_check check (scope in ('member', 'key'));

-- Counters of all three layers alike, for reading.
create view ledger_counters as
  select workspace_id, 'workspace' as scope, workspace_id as scope_id, charged_nano as total_nano, month_nano, week_nano, day_nano, last_day
  from ledger_accounts
  union all
  select workspace_id, scope, scope_id, total_nano, month_nano, week_nano, day_nano, last_day from ledger_spend;

alter table ledger_holds drop column calls, drop column raised_by;
create index ledger_holds_by_key on ledger_holds (key_id, workspace_id);
create index ledger_holds_by_member on ledger_holds (member_id, workspace_id) where member_id is not null;
create index ledger_holds_by_lease on ledger_holds (lease_until);

-- A lane of a gateway: a sequence of batches, one at a time. Kept for a day after its last.
create table ledger_lanes (
  gateway text not null,
  lane integer not null,
  -- That of its latest batch: a fence, which no earlier one passes.
  number bigint not null,
  lease_until timestamptz not null,
  -- Its allowances went back. It must say what its running calls use before it may ask for more.
  lapsed boolean not null,
  primary key (gateway, lane)
) with (fillfactor = 20);
create index ledger_lanes_by_lease on ledger_lanes (lease_until);

-- What a gateway has set aside for the text calls of a key (one of its values).
create table ledger_allowances (
  workspace_id text not null,
  key_id text not null,
  rotation integer not null,
  gateway text not null,
  member_id text,
  amount_nano bigint not null check (amount_nano >= 0),
  -- The part of it that no call needed, as far as the database knows: headroom, and what ended calls left of their bounds.
  idle_nano bigint not null check (idle_nano between 0 and amount_nano),
  primary key (workspace_id, key_id, rotation, gateway)
) with (fillfactor = 20);
-- None by gateway: on a small table it looks as good as the key, and the plan would stay.
create index ledger_allowances_by_member on ledger_allowances (member_id, workspace_id) where member_id is not null;

-- Entries are written once, and never changed.
create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger entries are never changed';
end $$;

-- On a small table an index looks as good as another, and the plan may stay while the table grows. So those that are not for looking
-- up one row by its key are made so that they cannot be used for it: this one only where `entry > 0` is asked for, which all are.
drop index ledger_entries_in_order;
create unique index ledger_entries_in_order on ledger_entries (workspace_id, entry) where entry > 0;

create trigger ledger_entries_immutable before update or delete on ledger_entries
  for each statement execute function ledger_refuse_change();

-- The only clock of the ledger. Tests put another in its place.
create function ledger_now() returns timestamptz language sql volatile as 'select clock_timestamp()';

-- Rule 1, one cap: how much more may be set aside under it; null without limit. A cap whose amount is spent lets nothing more in,
-- however little is asked. Only a hard cap counts what is held, and may be below zero: it was lowered.
create function ledger_room(p_cap bigint, p_hard boolean, p_spent bigint, p_held bigint) returns bigint language sql immutable as $$
  select case when p_spent >= p_cap then -9000000000000000000 when p_hard then p_cap - p_spent - p_held end
$$;

-- Rule 1, admission: what may be set aside for a key now. The refusal of key or workspace, else the room that the balance and the caps
-- leave, which may be below zero: by layer (w: with the balance; null: without limit), and for each cap, with its amount: layer
-- (workspace, member, key) by window (total, month, week, day). `left_soft` is what soft caps leave to be spent: they let calls in that
-- they do not hold for, so that headroom is given only while it is far off. One row always. The planner takes it into its caller's query.
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

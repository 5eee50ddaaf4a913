-- The two-phase ledger. Design section 5; spec: "Resources and their fields" (cost), "Authentication" 3 and 4 (caps).
-- All its tables are written by the functions below only. Each of them first locks the accounts it touches, in the order
-- of workspace_id: that one lock per workspace guards its account, counters, holds and entries, so there is nothing to
-- deadlock on, and what a batch reads stays true until it commits.

create table ledger_accounts (
  workspace_id text primary key,
  credits_nano bigint not null default 0,
  charged_nano bigint not null default 0,
  held_nano bigint not null default 0
) with (fillfactor = 20); -- rewritten by every batch: free space on the page keeps the new version there (HOT)

-- Every workspace has its account from the start, so that there is always a row to lock.
create function ledger_open_account() returns trigger language plpgsql as $$
begin
  insert into ledger_accounts (workspace_id) values (new.id) on conflict do nothing;
  return null;
end $$;
create trigger workspaces_open_account after insert on workspaces
  for each row execute function ledger_open_account();
insert into ledger_accounts (workspace_id) select id from workspaces;

-- Open holds only: a hold is deleted by what resolves it, and its entry tells the rest.
create table ledger_holds (
  workspace_id text not null,
  id text not null,
  key_id text not null,
  member_id text,
  kind text not null,
  amount_nano bigint not null check (amount_nano >= 0),
  -- Past this moment nobody is working on it any more: the sweeper expires it.
  lease_until timestamptz not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

-- Immutable. The reference of a charge, void or expire is the id of its hold; one entry per reference.
create table ledger_entries (
  workspace_id text not null,
  reference text not null,
  entry bigint not null generated always as identity,
  kind text not null check (kind in ('credit', 'charge', 'void', 'expire')),
  amount_nano bigint not null check (amount_nano >= 0),
  -- What the hold had reserved; 0 for a credit.
  held_nano bigint not null,
  -- Credits minus charges, this entry included.
  balance_after_nano bigint not null,
  key_id text,
  member_id text,
  note text,
  created_at timestamptz not null,
  primary key (workspace_id, reference)
);
create unique index ledger_entries_in_order on ledger_entries (workspace_id, entry);

-- Charges by scope: for ever, and in the period that began at *_start (UTC; a week begins on Monday).
-- Of periods only the latest with a charge is kept. A charge of an older one (another node's clock) counts in the total.
-- What is held is not counted here: only hard caps ask for it, and they add up the open holds, so that a reservation
-- rewrites one row (the account) and not four.
create table ledger_spend (
  workspace_id text not null,
  scope text not null check (scope in ('workspace', 'member', 'key')),
  scope_id text not null,
  total_nano bigint not null,
  month_start date not null,
  month_nano bigint not null,
  week_start date not null,
  week_nano bigint not null,
  day_start date not null,
  day_nano bigint not null,
  primary key (workspace_id, scope, scope_id)
) with (fillfactor = 20);

create function ledger_lock(p_workspaces text[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
begin
  perform 1 from ledger_accounts where workspace_id = any(p_workspaces) order by workspace_id for update;
end $$;

-- What a scope has been charged, as [total, month, week, day] at p_day (a UTC date).
create function ledger_spent(p_spend ledger_spend, p_day date) returns bigint[] language sql immutable as $$
  select case when p_spend.workspace_id is null then '{0,0,0,0}'::bigint[] else array[
    p_spend.total_nano,
    case when p_spend.month_start >= date_trunc('month', p_day::timestamp)::date then p_spend.month_nano else 0 end,
    case when p_spend.week_start >= date_trunc('week', p_day::timestamp)::date then p_spend.week_nano else 0 end,
    case when p_spend.day_start >= p_day then p_spend.day_nano else 0 end] end
$$;

-- The first cap that stops a call, 1 to 4 as in ledger_spent, or 0. A cap is reached at its amount, not beyond it.
-- p_reserved is what a hard cap counts too: open holds and the call itself; null for a soft cap.
create function ledger_cap(p_caps bigint[], p_spent bigint[], p_reserved bigint) returns integer
language sql immutable as $$
  select case
    when p_spent[1] >= p_caps[1] or p_spent[1] + p_reserved > p_caps[1] then 1
    when p_spent[2] >= p_caps[2] or p_spent[2] + p_reserved > p_caps[2] then 2
    when p_spent[3] >= p_caps[3] or p_spent[3] + p_reserved > p_caps[3] then 3
    when p_spent[4] >= p_caps[4] or p_spent[4] + p_reserved > p_caps[4] then 4
    else 0 end
$$;

-- Decides a batch of reservations and writes the holds of those that pass; answers with the others only.
-- Results are those of the items taken one after another in their order. Ids are distinct within a batch.
--   outcome     already_reserved, key_unknown, key_revoked, key_disabled, key_expired, workspace_disabled,
--               cap_reached, insufficient_balance: checked in this order
--   cap         1 to 12: layer (workspace, member, key) by window (total, month, week, day)
create function ledger_reserve(
  p_ids text[], p_workspaces text[], p_keys text[], p_amounts bigint[], p_lease_ms bigint[], p_kinds text[], p_now timestamptz
) returns table (item integer, outcome text, cap integer, limit_nano bigint, available_nano bigint)
language plpgsql
-- Plans must not depend on how full the tables were when a connection first came by.
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_day constant date := (p_now at time zone 'utc')::date;
  v_plain boolean;
  v_refused integer[] := '{}';
  v_workspace text;
  v_taken bigint; -- accepted so far in this batch: of the workspace
  v_by_scope jsonb; -- and of its members and keys that have hard caps
  r record;
begin
  perform ledger_lock(p_workspaces);

  -- Most batches: new ids, live keys, no caps at all, and more than enough balance in each account for the whole batch.
  -- The question below then has no rows to answer with, and is two thirds of the work.
  select bool_and(coalesce(
      k.status = 'active' and (k.expires_at is null or k.expires_at > p_now) and w.status = 'active'
      and a.credits_nano - a.charged_nano - a.held_nano >= (select sum(x.amount) from unnest(p_amounts) as x (amount))
      and num_nonnulls(w.cap_total_nano, w.cap_monthly_nano, w.cap_weekly_nano, w.cap_daily_nano,
        m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano,
        k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano) = 0, false))
    and not exists (
      select 1 from unnest(p_ids, p_workspaces) as i (id, workspace_id)
      join ledger_holds h on h.workspace_id = i.workspace_id and h.id = i.id)
    and not exists (
      select 1 from unnest(p_ids, p_workspaces) as i (id, workspace_id)
      join ledger_entries e on e.workspace_id = i.workspace_id and e.reference = i.id)
  into v_plain
  from (select distinct i.workspace_id, i.key_id from unnest(p_workspaces, p_keys) as i (workspace_id, key_id)) asked
  left join api_keys k on k.workspace_id = asked.workspace_id and k.id = asked.key_id
  left join workspaces w on w.id = asked.workspace_id
  left join ledger_accounts a on a.workspace_id = asked.workspace_id
  left join members m on m.workspace_id = asked.workspace_id and m.user_id = k.created_by;

  if v_plain is not true then
    -- Only what is refused, and what must be decided one by one because not all of its workspace fits.
    for r in
      with input as materialized (
        select i.id, i.workspace_id, i.key_id, i.amount, i.ord::integer as ord
        from unnest(p_ids, p_workspaces, p_keys, p_amounts) with ordinality as i (id, workspace_id, key_id, amount, ord)
      ),
      asked as materialized (
        select i.workspace_id, i.key_id, sum(i.amount)::bigint as amount from input i group by 1, 2
      ),
      scope as materialized (
        select asked.workspace_id, asked.key_id, asked.amount, k.created_by as member_id,
          case
            when k.id is null or w.id is null or a.workspace_id is null then 'key_unknown'
            when k.status = 'revoked' then 'key_revoked'
            when k.status = 'disabled' then 'key_disabled'
            when k.expires_at <= p_now then 'key_expired'
            when w.status <> 'active' then 'workspace_disabled'
          end as refusal,
          a.credits_nano - a.charged_nano - a.held_nano as available,
          array[w.cap_total_nano, w.cap_monthly_nano, w.cap_weekly_nano, w.cap_daily_nano] as w_caps,
          ledger_spent(ws, v_day) as w_spent,
          case when w.cap_hard then a.held_nano end as w_held,
          array[m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano] as m_caps,
          ledger_spent(ms, v_day) as m_spent,
          case when m.cap_hard then (
            select coalesce(sum(h.amount_nano), 0)::bigint from ledger_holds h
            where h.workspace_id = asked.workspace_id and h.member_id = k.created_by
          ) end as m_held,
          array[k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano] as k_caps,
          ledger_spent(ks, v_day) as k_spent,
          case when k.cap_hard then (
            select coalesce(sum(h.amount_nano), 0)::bigint from ledger_holds h
            where h.workspace_id = asked.workspace_id and h.key_id = asked.key_id
          ) end as k_held
        from asked
        left join api_keys k on k.workspace_id = asked.workspace_id and k.id = asked.key_id
        left join workspaces w on w.id = asked.workspace_id
        left join ledger_accounts a on a.workspace_id = asked.workspace_id
        left join members m on m.workspace_id = asked.workspace_id and m.user_id = k.created_by
        left join ledger_spend ws
          on ws.workspace_id = asked.workspace_id and ws.scope = 'workspace' and ws.scope_id = asked.workspace_id
        left join ledger_spend ms
          on ms.workspace_id = asked.workspace_id and ms.scope = 'member' and ms.scope_id = k.created_by
        left join ledger_spend ks
          on ks.workspace_id = asked.workspace_id and ks.scope = 'key' and ks.scope_id = asked.key_id
      ),
      soft as materialized (
        select scope.*,
          ledger_cap(w_caps, w_spent, null) as w_cap,
          ledger_cap(m_caps, m_spent, null) as m_cap,
          ledger_cap(k_caps, k_spent, null) as k_cap,
          sum(scope.amount) filter (where scope.refusal is null) over (partition by scope.workspace_id) as w_amount,
          sum(scope.amount) filter (where scope.refusal is null) over (partition by scope.workspace_id, scope.member_id) as m_amount
        from scope
      ),
      -- fits: whatever of this workspace is accepted, neither its balance nor a hard cap can run out within the batch,
      -- so that every item can be decided by what stood before the batch.
      judged as materialized (
        select soft.*, bool_and(
            refusal is not null
            or w_amount <= available
              and (w_held is null or ledger_cap(w_caps, w_spent, w_held + w_amount::bigint) = w_cap)
              and (m_held is null or ledger_cap(m_caps, m_spent, m_held + m_amount::bigint) = m_cap)
              and (k_held is null or ledger_cap(k_caps, k_spent, k_held + amount) = k_cap)
          ) over (partition by workspace_id) as fits
        from soft
      )
      select i.ord, i.amount as asked_nano, j.*,
        (h.id is not null or e.reference is not null) as known
      from input i
      join judged j on j.workspace_id = i.workspace_id and j.key_id = i.key_id
      left join lateral (
        select x.id from ledger_holds x where x.workspace_id = i.workspace_id and x.id = i.id limit 1
      ) h on true
      left join lateral (
        select x.reference from ledger_entries x where x.workspace_id = i.workspace_id and x.reference = i.id limit 1
      ) e on true
      where h.id is not null or e.reference is not null
        or j.refusal is not null or j.w_cap + j.m_cap + j.k_cap > 0 or not j.fits
      order by i.workspace_id, i.ord
    loop
      if v_workspace is distinct from r.workspace_id then
        v_workspace := r.workspace_id;
        v_taken := 0;
        v_by_scope := '{}';
      end if;
      item := r.ord;
      outcome := null;
      cap := 0;
      limit_nano := null;
      available_nano := null;
      if r.known then
        outcome := 'already_reserved';
      elsif r.refusal is not null then
        outcome := r.refusal;
      else
        if not r.fits then
          r.w_cap := ledger_cap(r.w_caps, r.w_spent, r.w_held + v_taken + r.asked_nano);
          if r.m_held is not null then
            r.m_cap := ledger_cap(r.m_caps, r.m_spent,
              r.m_held + coalesce((v_by_scope ->> ('m' || r.member_id))::bigint, 0) + r.asked_nano);
          end if;
          if r.k_held is not null then
            r.k_cap := ledger_cap(r.k_caps, r.k_spent,
              r.k_held + coalesce((v_by_scope ->> ('k' || r.key_id))::bigint, 0) + r.asked_nano);
          end if;
        end if;
        if r.w_cap > 0 then
          outcome := 'cap_reached';
          cap := r.w_cap;
          limit_nano := r.w_caps[r.w_cap];
        elsif r.m_cap > 0 then
          outcome := 'cap_reached';
          cap := 4 + r.m_cap;
          limit_nano := r.m_caps[r.m_cap];
        elsif r.k_cap > 0 then
          outcome := 'cap_reached';
          cap := 8 + r.k_cap;
          limit_nano := r.k_caps[r.k_cap];
        elsif not r.fits and r.asked_nano > r.available - v_taken then
          outcome := 'insufficient_balance';
          available_nano := r.available - v_taken;
        end if;
      end if;
      if outcome is not null then
        v_refused := v_refused || r.ord;
        return next;
      else
        v_taken := v_taken + r.asked_nano;
        if r.m_held is not null then
          v_by_scope := v_by_scope || jsonb_build_object('m' || r.member_id,
            coalesce((v_by_scope ->> ('m' || r.member_id))::bigint, 0) + r.asked_nano);
        end if;
        if r.k_held is not null then
          v_by_scope := v_by_scope || jsonb_build_object('k' || r.key_id,
            coalesce((v_by_scope ->> ('k' || r.key_id))::bigint, 0) + r.asked_nano);
        end if;
      end if;
    end loop;
  end if;

  if cardinality(v_refused) = cardinality(p_ids) then
    return;
  end if;

  with taken as (
    insert into ledger_holds (workspace_id, id, key_id, member_id, kind, amount_nano, lease_until, created_at)
    select i.workspace_id, i.id, i.key_id, k.created_by, i.kind, i.amount,
      p_now + i.lease_ms * interval '1 millisecond', p_now
    from unnest(p_ids, p_workspaces, p_keys, p_amounts, p_lease_ms, p_kinds)
      with ordinality as i (id, workspace_id, key_id, amount, lease_ms, kind, ord)
    join api_keys k on k.workspace_id = i.workspace_id and k.id = i.key_id
    where i.ord::integer <> all (v_refused)
    returning workspace_id, amount_nano
  )
  update ledger_accounts a set held_nano = a.held_nano + m.amount
  from (select t.workspace_id, sum(t.amount_nano)::bigint as amount from taken t group by 1) m
  where a.workspace_id = m.workspace_id;
end $$;

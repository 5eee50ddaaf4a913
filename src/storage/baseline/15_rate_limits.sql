-- Limits of requests and tokens a minute and of concurrent calls, counted for all gateways together. docs/limits.md explains them.
-- Unlogged: a crash of the server loses a minute of counts, and no call waits for a disk.

-- The use of one limit, by the second: `used` is a ring of 61, the current second and the minute before it.
create unlogged table rate_windows (
  workspace_id text not null,
  scope text not null check (scope in ('workspace', 'member', 'key')),
  scope_id text not null,
  -- calls: concurrent calls, which are in rate_calls; this row is their lock.
  unit text not null check (unit in ('requests', 'tokens', 'calls')),
  step bigint not null,
  total bigint not null check (total >= 0),
  used bigint[] not null check (cardinality(used) = 61),
  primary key (workspace_id, scope, scope_id, unit)
) with (fillfactor = 30);

-- The number of calls of a scope that one gateway runs, valid until its lease ends.
create unlogged table rate_calls (
  workspace_id text not null,
  scope text not null,
  scope_id text not null,
  gateway text not null,
  running bigint not null check (running > 0),
  lease_until timestamptz not null,
  primary key (workspace_id, scope, scope_id, gateway)
) with (fillfactor = 30);

-- Concurrent calls: a gateway may run as many as it needs, as far as the others leave room. Running calls go on. The caller has locked
-- the limit's row.
create function rate_calls_take(
  p_gateway text, p_lease_ms integer, p_workspace text, p_scope text, p_id text, p_limit bigint, p_running bigint, p_need bigint
) returns bigint language plpgsql as $$
declare
  v_others bigint;
  v_granted bigint;
begin
  select coalesce(sum(c.running), 0) into v_others from rate_calls c
  where c.workspace_id = p_workspace and c.scope = p_scope and c.scope_id = p_id and c.gateway <> p_gateway and c.lease_until > ledger_now();
  v_granted := greatest(least(p_need, p_limit - v_others), p_running);
  if v_granted = 0 then
    delete from rate_calls c
    where c.workspace_id = p_workspace and c.scope = p_scope and c.scope_id = p_id and c.gateway = p_gateway;
  else
    insert into rate_calls as c (workspace_id, scope, scope_id, gateway, running, lease_until)
    values (p_workspace, p_scope, p_id, p_gateway, v_granted, ledger_now() + p_lease_ms * interval '1 ms')
    on conflict (workspace_id, scope, scope_id, gateway) do update set running = excluded.running, lease_until = excluded.lease_until;
  end if;
  return v_granted;
end $$;

-- Grants units of limits to a gateway, and takes back those that it did not use. One row for each limit.
-- A grant counts from its second on, so that no minute has more grants than the limit. A return names the second of its grant.
--   k_needs      the sum for the waiting calls; for concurrent calls also the running ones
--   k_headrooms  the most to grant beyond it, while eight times that is left
--   k_firsts     the need of the first waiting call, for wait_ms; for concurrent calls: the running ones
--   g_*          units returned (negative) or used beyond the grant, of the limit at this index
--   wait_ms      until the first waiting call may fit; reset_ms: until no use is left in the window
create function rate_take(
  p_gateway text, p_lease_ms integer, k_workspaces text[], k_scopes text[], k_ids text[], k_units text[], k_limits bigint[],
  k_needs bigint[], k_headrooms bigint[], k_firsts bigint[], g_places integer[], g_steps bigint[], g_amounts bigint[]
) returns table (place integer, step bigint, granted bigint, total bigint, wait_ms bigint, reset_ms bigint)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set lock_timeout = '4s' as $$
declare
  r rate_windows;
  v_ms bigint;
  v_room bigint;
  v_left bigint;
  v_cut bigint;
  s bigint;
  j integer;
begin
  for i in 1 .. coalesce(cardinality(k_workspaces), 0) loop
    loop
      select * into r from rate_windows w
      where w.workspace_id = k_workspaces[i] and w.scope = k_scopes[i] and w.scope_id = k_ids[i] and w.unit = k_units[i] for update;
      exit when found;
      insert into rate_windows (workspace_id, scope, scope_id, unit, step, total, used)
      values (k_workspaces[i], k_scopes[i], k_ids[i], k_units[i], 0, 0, array_fill(0::bigint, array[61])) on conflict do nothing;
    end loop;
    v_ms := floor(extract(epoch from ledger_now()) * 1000);
    place := i;
    step := v_ms / 1000;
    wait_ms := 0;
    reset_ms := 0;
    -- A clock that went back by more than a moment: what is known counts as used now.
    if step < r.step - 5 then
      r.used := array_fill(0::bigint, array[61]);
      r.used[1 + step % 61] := r.total;
      r.step := step;
    end if;
    step := greatest(step, r.step);
    if step - r.step >= 61 then
      r.used := array_fill(0::bigint, array[61]);
      r.total := 0;
    else
      while r.step < step loop
        r.step := r.step + 1;
        s := r.step;
        r.total := r.total - r.used[1 + s % 61];
        r.used[1 + s % 61] := 0;
      end loop;
    end if;
    for j in 1 .. coalesce(cardinality(g_places), 0) loop
      continue when g_places[j] <> i;
      if g_amounts[j] > 0 then
        r.used[1 + step % 61] := r.used[1 + step % 61] + g_amounts[j];
        r.total := r.total + g_amounts[j];
      else
        v_left := -g_amounts[j];
        s := least(g_steps[j], step);
        while v_left > 0 and s >= step - 60 loop
          v_cut := least(v_left, r.used[1 + s % 61]);
          r.used[1 + s % 61] := r.used[1 + s % 61] - v_cut;
          r.total := r.total - v_cut;
          v_left := v_left - v_cut;
          s := s - 1;
        end loop;
      end if;
    end loop;
    if k_units[i] = 'calls' then
      granted := rate_calls_take(p_gateway, p_lease_ms, k_workspaces[i], k_scopes[i], k_ids[i], k_limits[i], k_firsts[i], k_needs[i]);
      if granted < k_needs[i] then
        wait_ms := 1000;
      end if;
    else
      v_room := greatest(k_limits[i] - r.total, 0);
      granted := case when k_needs[i] + 8 * k_headrooms[i] <= v_room then k_needs[i] + k_headrooms[i] else least(k_needs[i], v_room) end;
      r.used[1 + step % 61] := r.used[1 + step % 61] + granted;
      r.total := r.total + granted;
      v_left := r.total;
      s := step - 60;
      while v_left > 0 loop
        if wait_ms = 0 and v_left - r.used[1 + s % 61] <= k_limits[i] - greatest(k_firsts[i], 1) then
          wait_ms := (s + 61) * 1000 - v_ms;
        end if;
        v_left := v_left - r.used[1 + s % 61];
        reset_ms := (s + 61) * 1000 - v_ms;
        s := s + 1;
      end loop;
    end if;
    total := r.total;
    update rate_windows w set step = rate_take.step, total = r.total, used = r.used
    where w.workspace_id = k_workspaces[i] and w.scope = k_scopes[i] and w.scope_id = k_ids[i] and w.unit = k_units[i];
    return next;
  end loop;
end $$;

-- Deletes expired rows.
create function rate_sweep() returns void language sql as $$
  delete from rate_calls c where c.lease_until < ledger_now();
  delete from rate_windows w where w.step < extract(epoch from ledger_now()) - 120
    and not exists (select 1 from rate_calls c where c.workspace_id = w.workspace_id and c.scope = w.scope and c.scope_id = w.scope_id);
$$;

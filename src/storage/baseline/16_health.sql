-- The gateways' shared findings about providers: open circuits and unusable keys. docs/routing.md explains them. Unlogged: after a
-- crash of the server each gateway goes on with its own findings, and no call waits for a disk.
create unlogged table health_states (
  kind text not null check (kind in ('circuit', 'credential')),
  provider text not null check (length(provider) <= 200),
  -- The upstream's name of the model; empty for a key that works for no model.
  model text not null check (length(model) <= 500),
  -- A key's id, and a digest that distinguishes it from its replacement; empty for a circuit.
  credential text not null check (length(credential) <= 200),
  mark text not null check (length(mark) <= 100),
  -- The gateway of the last report.
  gateway text not null,
  -- False: the circuit was closed, or the key worked. Such a row is kept for a minute, so that every gateway receives it.
  holds boolean not null,
  pause_ms bigint not null,
  until_at timestamptz not null,
  -- The gateway whose probe is in flight.
  probe_by text,
  probe_until timestamptz,
  version bigint not null,
  forgotten_at timestamptz not null,
  primary key (kind, provider, model, credential)
) with (fillfactor = 50);

-- Increases with every change, also after a crash.
create sequence health_versions;

-- Reports a gateway's changes, and returns the valid states. No pause ends later than ten minutes from now, whatever a gateway reports.
create function health_exchange(p_gateway text, p_changes jsonb) returns table (
  kind text, provider text, model text, credential text, mark text, gateway text, version bigint, holds boolean,
  pause_ms bigint, left_ms bigint, probe_left_ms bigint
) language plpgsql as $$
#variable_conflict use_column
declare
  c record;
  v_now timestamptz;
begin
  -- In one order, in which all gateways lock them.
  for c in
    select * from jsonb_to_recordset(p_changes) as x (
      kind text, provider text, model text, credential text, mark text, holds boolean, "pauseMs" bigint, "leftMs" bigint
    ) order by x.kind, x.provider, x.model, x.credential
  loop
    v_now := ledger_now();
    insert into health_states as h (kind, provider, model, credential, mark, gateway, holds, pause_ms, until_at, version, forgotten_at)
    values (
      c.kind, c.provider, c.model, c.credential, c.mark, p_gateway, c.holds, least(c."pauseMs", 600000),
      v_now + least(c."leftMs", 600000) * interval '1 ms', nextval('health_versions'),
      v_now + case when c.holds then least(c."leftMs", 600000) + 600000 else 60000 end * interval '1 ms'
    )
    on conflict (kind, provider, model, credential) do update set
      mark = excluded.mark, gateway = excluded.gateway, holds = excluded.holds, probe_by = null, probe_until = null,
      version = excluded.version,
      -- Two gateways that find the same at the same time make one pause of it: the longer one.
      pause_ms = case when h.holds and excluded.holds and h.mark = excluded.mark and h.until_at > v_now
        then greatest(h.pause_ms, excluded.pause_ms) else excluded.pause_ms end,
      until_at = case when h.holds and excluded.holds and h.mark = excluded.mark
        then greatest(h.until_at, excluded.until_at) else excluded.until_at end,
      forgotten_at = case when h.holds and excluded.holds
        then greatest(h.forgotten_at, excluded.forgotten_at) else excluded.forgotten_at end;
  end loop;
  v_now := ledger_now();
  if p_changes <> '[]' then
    delete from health_states h where h.forgotten_at < v_now;
  end if;
  return query
    select h.kind, h.provider, h.model, h.credential, h.mark, h.gateway, h.version, h.holds, h.pause_ms,
      greatest(ceil(extract(epoch from least(h.until_at, v_now + interval '10 minutes') - v_now) * 1000), 0)::bigint,
      greatest(ceil(extract(epoch from least(coalesce(h.probe_until, v_now), v_now + interval '10 minutes') - v_now) * 1000), 0)::bigint
    from health_states h where h.forgotten_at >= v_now order by h.version desc limit 2000;
end $$;

-- Claims the probe of a circuit for one of all gateways. Returns 0 if the asking gateway may probe, otherwise the milliseconds until it
-- may. The gateway that last found the provider failing gives the others precedence, by a quarter of the pause and at most a second:
-- the failure may be its own. A moment early counts as in time, because several clocks measure pauses.
create function health_probe(p_gateway text, p_provider text, p_model text, p_probe_ms bigint) returns bigint language plpgsql as $$
declare
  r health_states;
  v_now timestamptz;
  v_free timestamptz;
begin
  select * into r from health_states h
  where h.kind = 'circuit' and h.provider = p_provider and h.model = p_model and h.credential = '' for update;
  v_now := ledger_now();
  if not found or not r.holds or r.forgotten_at < v_now then
    return 0;
  end if;
  v_free := r.until_at;
  if r.probe_by <> p_gateway then
    v_free := greatest(v_free, r.probe_until);
  end if;
  if r.gateway = p_gateway and r.probe_by is null and 1 < (
    select count(*) from pg_stat_activity a where a.application_name = 'tollgate signals' and a.datname = current_database()
  ) then
    v_free := v_free + least(r.pause_ms / 4, 1000) * interval '1 ms';
  end if;
  if v_free > v_now + interval '50 ms' then
    return least(ceil(extract(epoch from v_free - v_now) * 1000), 600000)::bigint;
  end if;
  update health_states h set probe_by = p_gateway, probe_until = v_now + least(p_probe_ms, 60000) * interval '1 ms'
  where h.kind = 'circuit' and h.provider = p_provider and h.model = p_model and h.credential = '';
  return 0;
end $$;

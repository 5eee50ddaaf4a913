-- A key's value can be replaced while its record stays: same id, same caps, same counters. Contract: keys rotate.
-- The value before stays known, and works until previous_expires_at; a second rotation forgets it.
alter table api_keys
  -- How many times the value was replaced: tells which value a call was authenticated with.
  add column rotations integer not null default 0,
  add column previous_lookup bytea,
  add column previous_expires_at timestamptz,
  add constraint api_keys_previous check ((previous_lookup is null) = (previous_expires_at is null));
create unique index api_keys_by_previous_lookup on api_keys (previous_lookup) where previous_lookup is not null;

-- The keys of a batch of reservations, with '' (which is no key) where the value that was used works no more at p_now.
-- The ledger asks it in the statement that reserves: a node whose cache has not heard of a rotation yet cannot be wrong.
-- A null in p_rotations asks for no check. Answers in the order of its arrays.
create function ledger_keys_in_force(p_workspaces text[], p_keys text[], p_rotations integer[], p_now timestamptz)
returns text[] language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return (
    select array_agg(
      case
        when k.rotations = i.rotation + 1 and k.previous_expires_at > p_now then i.key_id
        when k.rotations > i.rotation then ''
        else i.key_id
      end order by i.ord)
    from unnest(p_workspaces, p_keys, p_rotations) with ordinality as i (workspace_id, key_id, rotation, ord)
    left join api_keys k on k.workspace_id = i.workspace_id and k.id = i.key_id
  );
end $$;

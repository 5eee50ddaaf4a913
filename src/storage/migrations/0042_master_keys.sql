-- The master key can be replaced while gateways run. docs/operate.md "Replacing the master key".
-- compatible: the triggers refuse nothing before the first replacement, which no version from before this one lives through.
-- Which master keys a process holds, by their ids, and which it seals new values under.
alter table gateways
  add column master_keys text[] not null default '{}',
  add column sealing_key text;
-- Signing secrets that an earlier master key derived; null where the key in force derives them.
alter table workspaces
  add column signing_sealed bytea,
  add column signing_previous_sealed bytea;

-- Once the replacement has ended, no value may come in that the key in force does not open: a gateway that slept through it
-- would store an API key that nobody could read again. The lock waits for a replacement that is just ending.
create function refuse_other_master_key() returns trigger language plpgsql as $$
declare
  v_rotation jsonb;
  v_sealed bytea;
begin
  select value into v_rotation from settings where name = 'master_key_rotation' for share;
  if v_rotation ->> 'state' = 'done' then
    execute format('select ($1).%I', tg_argv[0]) into v_sealed using new;
    if substr(v_sealed, 1, 5) <> decode('02' || (v_rotation ->> 'to'), 'hex') then
      raise exception 'the master key was replaced: this gateway must be started again with the new one';
    end if;
  end if;
  return new;
end $$;
create trigger api_keys_master_key before insert or update of ciphertext on api_keys
  for each row when (new.ciphertext is not null) execute function refuse_other_master_key('ciphertext');
create trigger providers_master_key before insert or update of settings on providers
  for each row execute function refuse_other_master_key('settings');
create trigger provider_credentials_master_key before insert or update of api_key on provider_credentials
  for each row execute function refuse_other_master_key('api_key');
create trigger workspaces_master_key before insert or update of signing_sealed, signing_previous_sealed on workspaces
  for each row when (new.signing_sealed is not null) execute function refuse_other_master_key('signing_sealed');

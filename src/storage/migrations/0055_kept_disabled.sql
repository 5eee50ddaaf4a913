-- A key that an administrator disabled says so in its bounds. A version from before that writes all bounds that it knows with each change
-- of a key, and this one not; and it leaves it where a key is enabled.
create function api_keys_keep_disabled() returns trigger language plpgsql as $$
begin
  if new.status = 'active' and new.bounds @> '{"disabled": true}' then
    new.bounds := new.bounds || '{"disabled": false}';
  elsif old.bounds @> '{"disabled": true}' and not new.bounds ? 'disabled' then
    new.bounds := new.bounds || '{"disabled": true}';
  end if;
  return new;
end $$;

-- compatible: it only adds to bounds what a version that does not know it leaves out, and refuses nothing.
create trigger api_keys_keep_disabled before update of status, bounds on api_keys
  for each row execute function api_keys_keep_disabled();

-- What is final stays final, and other rows that no version writes: the database refuses them from now on. Checks are not validated, so no
-- table is read for them. Triggers look at changes alone, so rows from before may be as they are.
-- compatible: no version changes a revoked key or token, an ended task or a sent event, and each writes one of task and call.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '%', tg_argv[0];
end $$;

-- In the order in which calls lock these tables.

-- A key belongs to a task or to an image call, and only a call has an answer here.
alter table idempotency_keys
  add constraint idempotency_keys_owner check (num_nonnulls(task_id, call_id) = 1) not valid,
  add constraint idempotency_keys_answer check (answer is null or call_id is not null) not valid;

-- A task that has ended neither runs again nor costs anything else.
create trigger tasks_final before update of status, cost_nano, due_at on tasks
  for each row when (old.due_at is null
    and (new.due_at is not null or (old.status, old.cost_nano) is distinct from (new.status, new.cost_nano)))
  execute function refuse_change('an ended task never changes its state or cost');

-- Every try of an event sends the same bytes.
create trigger webhook_deliveries_same_body before update of body on webhook_deliveries
  for each row when (old.body is not null and new.body is distinct from old.body)
  execute function refuse_change('an event never changes once it was sent');

-- The queue counts holds by these kinds.
alter table ledger_holds
  add constraint ledger_holds_kind check (kind in ('image', 'task')) not valid;

-- A revoked credential never works again, and neither does an earlier value of a key.
create trigger api_keys_final before update of status, rotations on api_keys
  for each row when (new.rotations < old.rotations
    or old.status = 'revoked' and (old.status, old.rotations) is distinct from (new.status, new.rotations))
  execute function refuse_change('a revoked key never changes its state or value, and a rotation is never undone');
create trigger admin_tokens_final before update of revoked_at on admin_tokens
  for each row when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  execute function refuse_change('a revoked token stays revoked');

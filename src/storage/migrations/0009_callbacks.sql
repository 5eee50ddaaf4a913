-- What the delivery of callbacks needs beside its tables. Spec: "Task callbacks (webhooks)".

-- When the signing secret was last replaced: the one before it signs too for a day, so that receivers can change over.
alter table workspaces add column signing_rotated_at timestamptz;

alter table webhook_deliveries
  -- The event as it was first sent, so that every try sends the same bytes; a jsonb would lose the order of its keys.
  alter column body type text using body::text,
  -- Whose turn it is: few at a time go to one receiver, so that one that hangs does not stop the others.
  add column host text generated always as (lower(substring(url from '^[^:]*://([^/?#]*)'))) stored,
  -- The attempts made before the last redelivery, which begins the schedule anew.
  add column attempts_before integer not null default 0;

-- A task ends once, so it has one event.
drop index webhook_deliveries_by_task;
create unique index webhook_deliveries_by_task on webhook_deliveries (workspace_id, task_id) where task_id is not null;
create index webhook_deliveries_by_id on webhook_deliveries (id);

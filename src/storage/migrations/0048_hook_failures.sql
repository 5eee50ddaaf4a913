-- The last failure of each of the operator's hooks, of all gateways: what a page shows an operator. One row a hook, written once a
-- second at most by each process. Unlogged: after a crash of the server it begins anew, and no call waits for a disk.
create unlogged table hook_failures (
  hook text primary key check (length(hook) <= 200),
  first_failed_at timestamptz not null default now(),
  failed_at timestamptz not null default now(),
  failures bigint not null,
  why text not null check (length(why) <= 300),
  -- The call or the task that it failed at.
  call_id text not null check (length(call_id) <= 200)
) with (fillfactor = 50);

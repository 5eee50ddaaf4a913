-- Of the ledger's rule 1, admission (migrations/0056_ledger_admission.sql). docs/ledger.md.

-- One cap: how much more may be set aside under it; null without limit. A cap whose amount is spent lets nothing more in, however
-- little is asked. Only a hard cap counts what is held, and may be below zero: it was lowered.
create function ledger_room(p_cap bigint, p_hard boolean, p_spent bigint, p_held bigint) returns bigint language sql immutable as $$
  select case when p_spent >= p_cap then -9000000000000000000 when p_hard then p_cap - p_spent - p_held end
$$;

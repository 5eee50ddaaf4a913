-- A part of the ledger's rule 1, admission (migrations/0056_ledger_admission.sql). docs/ledger.md.

-- Returns how much more may be reserved under one cap; null: without limit. A cap whose amount is spent admits nothing, not even the
-- smallest amount. Only a hard cap counts reservations; its result is negative if it was lowered.
create function ledger_room(p_cap bigint, p_hard boolean, p_spent bigint, p_held bigint) returns bigint language sql immutable as $$
  select case when p_spent >= p_cap then -9000000000000000000 when p_hard then p_cap - p_spent - p_held end
$$;

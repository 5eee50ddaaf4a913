-- The ledger's rule 1, admission: whether a key may set something aside now, and how much. docs/ledger.md.

-- One cap: how much more may be set aside under it; null without limit. A cap whose amount is spent lets nothing more in, however
-- little is asked. Only a hard cap counts what is held, and may be below zero: it was lowered.
create function ledger_room(p_cap bigint, p_hard boolean, p_spent bigint, p_held bigint) returns bigint language sql immutable as $$
  select case when p_spent >= p_cap then -9000000000000000000 when p_hard then p_cap - p_spent - p_held end
$$;

-- ledger_admit, what may be set aside for a key now, is made by migrations/0052_ledger_charges_max.sql. One row always. The planner
-- takes it into its caller's query.
--   refusal    why the key or its workspace may not call at all; null where they may
--   available  what the balance leaves; without limit, what is left of the most that may be charged
--   *_room     what balance and caps leave by layer, w (with the balance), m and k; may be below zero; null: without limit
--   left_soft  what soft caps leave to be spent: they let calls in that they do not hold for, so that headroom is given only while
--              it is far off
--   rooms      the same for each cap, with its amount in `caps`: layer (workspace, member, key) by window (total, month, week, day)

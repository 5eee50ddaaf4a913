-- Since when the oldest call runs that a process has not recorded yet, as in ids (id_time); the time of the report where none runs. Null
-- of a process that does not tell. The export of a day waits for its calls. docs/operate.md "Exports".
alter table gateways add column calls_since text check (length(calls_since) = 10);

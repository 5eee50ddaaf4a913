-- Usage is read by period: which blocks of the ledger a period is in. Entries are written in the order of time and never
-- moved, so a few bytes for each megabyte tell it, where a tree would cost every charge. Contract: GET /usage.
create index ledger_entries_by_time on ledger_entries using brin (created_at) with (pages_per_range = 32, autosummarize = on);

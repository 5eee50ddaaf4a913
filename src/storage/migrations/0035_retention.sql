-- Which days were exported as the setting says (docs/operate.md): from the first one on, without a gap. What is not among them is not
-- dropped while the setting stands.
create table exported_days (
  what text not null check (what in ('requests', 'ledger')),
  day date not null,
  file text not null,
  rows bigint not null check (rows >= 0),
  finished_at timestamptz not null default now(),
  primary key (what, day)
);

-- Retention has dropped rows of the log up to here: the part of an id that tells its time. One row, once something was dropped.
create table request_log_start (
  only_row boolean primary key default true check (only_row),
  id_time text not null check (length(id_time) = 10)
);

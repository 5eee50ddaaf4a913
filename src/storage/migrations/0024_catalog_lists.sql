-- Lists of models that an operator has taken over from the public list; version 0, which has no row, is the list that is
-- shipped. `list` has one model a line. docs/models.md.
create table catalog_lists (
  version integer primary key check (version > 0),
  created_at timestamptz not null,
  source text not null,
  models integer not null,
  list text not null
);
-- Which of them is in force; without a row the shipped one.
create table catalog_list_in_force (
  only_row boolean primary key default true check (only_row),
  version integer not null check (version >= 0)
);

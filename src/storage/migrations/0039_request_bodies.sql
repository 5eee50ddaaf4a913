-- What callers asked and got, word for word, where a workspace has switched it on. The text is sealed with the master key, so it is
-- readable to nobody who only has the database. Its own table, which no list reads: rows are large, few, and go after some days.
alter table workspaces
  add column keep_bodies text not null default 'off' check (keep_bodies in ('off', 'errors', 'all')),
  add column body_retention_days integer not null default 7 check (body_retention_days between 1 and 90);

create table request_bodies (
  workspace_id text not null,
  id text not null,
  sealed bytea not null,
  primary key (workspace_id, id)
);
-- It is packed and random: to pack it again only costs time.
alter table request_bodies alter column sealed set storage external;

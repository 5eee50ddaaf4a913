-- Answers that are given again to the same request: an option of a key (docs/cache.md). What is kept is sealed with the master
-- key, bound to its workspace and its digest, so that a row that was moved to another workspace is readable to nobody.
alter table api_keys add column response_cache json;

create table cached_answers (
  workspace_id text not null,
  digest text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  bytes integer not null,
  sealed bytea not null,
  primary key (workspace_id, digest)
);
-- It is packed and random: to pack it again only costs time.
alter table cached_answers alter column sealed set storage external;
create index cached_answers_expires_at on cached_answers (expires_at);
